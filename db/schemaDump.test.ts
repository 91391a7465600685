import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dumpSchema } from './schemaDump.ts'
import { type Database, connect } from './sql.ts'
import { type TestServer, startTestServer } from './testDatabase.ts'

let server: TestServer
let database: Database

const schema = `
  create schema pay;
  comment on schema pay is 'money';
  create type pay.state as enum ('open', 'paid');
  create domain pay.rupiah as bigint constraint rupiah_positive check (value >= 0);
  create function pay.touch() returns trigger language plpgsql as $$
  begin
    new.note := upper(new.note);
    return new;
  end $$;
  create table pay.intent (
    id uuid constraint intent_pkey primary key,
    dropped text,
    serial int generated always as identity,
    amount pay.rupiah not null,
    state pay.state not null default 'open',
    note text,
    note_length int generated always as (length(note)) stored,
    created_at timestamptz not null default now(),
    constraint intent_amount check (amount::bigint <= 1000000000),
    constraint intent_note unique (note)
  );
  alter table pay.intent drop column dropped;
  comment on table pay.intent is 'what a buyer''s about to pay';
  comment on column pay.intent.amount is 'rupiah';
  create table pay.refund (
    id uuid constraint refund_pkey primary key,
    intent_id uuid not null constraint refund_intent references pay.intent (id) on delete cascade
  );
  create index refund_by_intent on pay.refund (intent_id) include (id) where intent_id is not null;
  create trigger intent_touch before insert or update on pay.intent for each row execute function pay.touch();
  alter table pay.refund enable row level security;
  create policy own on pay.refund using (intent_id is not null);
  create schema other;
  create table other.unseen (id int);`

beforeAll(async () => {
  server = await startTestServer()
  database = connect(server.info.url)
  await database.query((sql) => sql.unsafe(schema))
}, 60_000)

afterAll(async () => {
  await database.end()
  await server.stop()
})

describe('the schema dump', () => {
  test('it lists everything a schema holds, in an order that does not depend on history', async () => {
    expect(await database.readTx((sql) => dumpSchema(sql, ['pay']))).toBe(`schema pay
  comment 'money'

domain pay.rupiah bigint
  constraint rupiah_positive CHECK ((VALUE >= 0))

type pay.state enum ('open', 'paid')

sequence pay.intent_serial_seq integer start 1 increment 1 min 1 max 2147483647 cache 1 owned by pay.intent.serial

table pay.intent
  comment 'what a buyer''s about to pay'
  column id uuid not null
  column serial integer not null identity always
  column amount pay.rupiah not null
    comment 'rupiah'
  column state pay.state not null default 'open'::pay.state
  column note text
  column note_length integer stored as length(note)
  column created_at timestamp with time zone not null default now()
  constraint intent_amount CHECK (((amount)::bigint <= 1000000000))
  constraint intent_note UNIQUE (note)
  constraint intent_pkey PRIMARY KEY (id)
  trigger CREATE TRIGGER intent_touch BEFORE INSERT OR UPDATE ON pay.intent FOR EACH ROW EXECUTE FUNCTION pay.touch()

table pay.refund row security
  column id uuid not null
  column intent_id uuid not null
  constraint refund_intent FOREIGN KEY (intent_id) REFERENCES pay.intent(id) ON DELETE CASCADE
  constraint refund_pkey PRIMARY KEY (id)
  index CREATE INDEX refund_by_intent ON pay.refund USING btree (intent_id) INCLUDE (id) WHERE (intent_id IS NOT NULL)
  policy own permissive for all using ((intent_id IS NOT NULL))

CREATE OR REPLACE FUNCTION pay.touch()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
  begin
    new.note := upper(new.note);
    return new;
  end $function$
`)
  })

  test('any change of the schema changes it', async () => {
    const dump = (): Promise<string> => database.readTx((sql) => dumpSchema(sql, ['pay']))
    const before = await dump()
    const changes = [
      'alter table pay.intent alter column note set not null',
      `alter table pay.intent alter column state set default 'paid'`,
      'alter table pay.refund add constraint refund_other check (id <> intent_id)',
      'create index refund_again on pay.refund (id desc)',
      `comment on column pay.refund.id is 'new'`,
      'alter table pay.refund force row level security',
      `alter type pay.state add value 'void'`,
    ]
    const seen = new Set([before])
    for (const change of changes) {
      await database.query((sql) => sql.unsafe(change))
      seen.add(await dump())
    }
    expect(seen.size).toBe(changes.length + 1)
  })

  test('outside a transaction it is refused', async () => {
    await expect(database.query((sql) => dumpSchema(sql, ['pay']))).rejects.toThrow(/needs a transaction/)
  })
})
