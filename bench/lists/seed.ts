import { randomUUID } from 'node:crypto'
import type { Database, Sql } from '../../db/sql.ts'

export interface ListOwner {
  tenantId: string
  merchantId: string
}

export interface SeededMerchants {
  /** Two of three intents are this one's. */
  big: ListOwner
  /** The others share the rest evenly; the first half of them is of the tenant of the big one. */
  others: readonly ListOwner[]
}

const batch = 50_000

/**
 * Writes intents, attempts and events of a year, as many of the big merchant as `count` says and half as many of the
 * hundred others together, mingled by time as they would have come. Everything is made by the server, with indexes put
 * aside meanwhile, and analysed at the end. Descriptions begin with "kopi susu" at the big merchant and "teh melati" at
 * the others, have "pesanan" everywhere, and "gudeg" once in 5000.
 */
export async function seedLists(database: Database, big: ListOwner, count: number, say: (line: string) => void): Promise<SeededMerchants> {
  const others = Array.from({ length: 100 }, (_, at) => ({ tenantId: at < 50 ? big.tenantId : randomUUID(), merchantId: randomUUID() }))
  const owners = [big, ...others]
  const total = count * 1.5
  await database.tx((sql) => sql`
    insert into payments.merchants (id, tenant_id, name, status, city, postal_code, category_code, national_merchant_id, created_at)
    select m, t, 'Warung Contoh', 'approved', 'Jakarta', '10110', '5411', 'ID1234567890123', now()
    from unnest(${others.map(({ merchantId }) => merchantId)}::uuid[], ${others.map(({ tenantId }) => tenantId)}::uuid[]) o (m, t)`)
  await putIndexesAside(database)
  for (let from = 1; from <= total; from += batch) {
    const to = Math.min(total, from + batch - 1)
    await database.tx((sql) => writeBatch(sql, owners, from, to, total))
    say(`${to} of ${total} intents, with their attempts and events`)
  }
  say('indexes')
  await putIndexesBack(database)
  for (const table of ['payment_intents', 'payment_attempts', 'events', 'listed_intents', 'listed_payments', 'list_totals', 'list_changes', 'merchants']) {
    await database.query((sql) => sql`vacuum analyze ${sql(`payments.${table}`)}`)
  }
  return { big, others }
}

async function writeBatch(sql: Sql, owners: readonly ListOwner[], from: number, to: number, total: number): Promise<void> {
  await sql`
    create temp table seeded on commit drop as
    with numbered as (
      select n, md5(n::text) as h, date_trunc('milliseconds', now() - interval '365 days' * (1 - n / ${total}::float8)) as at,
        case when n % 3 = 0 then 1 + n / 3 % 100 else 0 end as owner
      from generate_series(${from}::bigint, ${to}::bigint) n
    )
    select n, owner, at, h, o.tenant_id, o.merchant_id, lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') as time,
      10000 + n % 500 * 1000 as amount,
      (select string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', 1 + case when i < 5 then (n * 7368787 % 33554432 >> 5 * i)::int & 31
        else get_byte(decode(h, 'hex'), i) & 31 end, 1), '') from generate_series(0, 4 + 5) i) as shortcode,
      case when n % 100 < 88 then 'paid' when n % 100 < 95 then 'expired' when n % 100 < 98 then 'cancelled' when n % 100 < 99 then 'failed' else 'open' end as status,
      case when n % 10000 = 2 then array['paylater_a'] when n % 10 < 7 then array['qris'] when n % 10 < 9 then array['qris', 'va_bank_a', 'ewallet_wallet_a']
        else array['va_bank_a'] end as channels
    from numbered
    join unnest(${owners.map(({ tenantId }) => tenantId)}::uuid[], ${owners.map(({ merchantId }) => merchantId)}::uuid[])
      with ordinality o (tenant_id, merchant_id, place) on o.place = owner + 1
    order by n`
  await sql`
    insert into payments.payment_intents (id, tenant_id, merchant_id, shortcode, visible, status, amount_idr, max_uses, uses, paid_idr, description, allowed_channels,
      channel, metadata, reference_id, customer, current_attempt_id, created_at, intent_expires_at, paid_at, ended_at)
    select (time || '7' || substr(h, 1, 3) || '8' || substr(h, 4, 15))::uuid, tenant_id, merchant_id, shortcode, true, status, amount, 1, (status = 'paid')::int,
      case when status = 'paid' then amount else 0 end,
      case when owner = 0 then 'Kopi susu' else 'Teh melati' end || ', pesanan ' || n || case when n % 5000 = 1 then ' dan gudeg' else '' end,
      channels, null, jsonb_build_object('order_id', n::text, 'shop', 'shop-' || n % 10), 'order-' || n,
      case when n % 2 = 0 then jsonb_build_object('name', 'Pelanggan ' || n % 9000, 'email', 'pelanggan' || n % 9000 || '@shop.example',
        'phone', '+62812' || lpad((n % 9000)::text, 7, '0')) end,
      case when status = 'paid' or cardinality(channels) = 1 then (time || '7' || substr(h, 1, 3) || '9' || substr(h, 4, 15))::uuid end,
      at, at + interval '1 day', case when status = 'paid' then at + interval '5 minutes' end, case when status <> 'open' then at + interval '5 minutes' end
    from seeded order by n`
  await sql`
    insert into payments.payment_attempts (id, tenant_id, merchant_id, intent_id, channel, amount_idr, status, standing, provider, charge_reference, provider_reference,
      fields, expires_at, created_at, completed_at)
    select (time || '7' || substr(h, 1, 3) || '9' || substr(h, 4, 15))::uuid, tenant_id, merchant_id, (time || '7' || substr(h, 1, 3) || '8' || substr(h, 4, 15))::uuid,
      channels[1], amount, case status when 'paid' then 'succeeded' when 'open' then 'pending' when 'failed' then 'failed' else 'expired' end, false, 'simulator',
      'SIM-' || substr(h, 1, 16), 'SIM-' || substr(h, 1, 16), jsonb_build_object('qr_string', repeat(h, 8)), at + interval '30 minutes', at,
      case when status = 'paid' then at + interval '5 minutes' end
    from seeded where status = 'paid' or cardinality(channels) = 1 order by n`
  await sql`
    insert into payments.events (id, tenant_id, merchant_id, kind, intent_id, body, created_at)
    select id, tenant_id, merchant_id, kind, intent, jsonb_build_object('id', id, 'event', kind, 'created_at', to_char(happened at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'environment', 'sandbox', 'api_version', 'v1', 'merchant_id', merchant_id, 'data', jsonb_build_object('intent', jsonb_build_object('id', intent, 'note', repeat(h, 20))))::text, happened
    from (
      select n, tenant_id, merchant_id, h, 'payment_intent.created' as kind, at as happened, (time || '7' || substr(h, 1, 3) || 'a' || substr(h, 4, 15))::uuid as id,
        (time || '7' || substr(h, 1, 3) || '8' || substr(h, 4, 15))::uuid as intent
      from seeded
      union all
      select n, tenant_id, merchant_id, h, 'payment.completed', at + interval '5 minutes', (time || '7' || substr(h, 1, 3) || 'b' || substr(h, 4, 15))::uuid,
        (time || '7' || substr(h, 1, 3) || '8' || substr(h, 4, 15))::uuid
      from seeded where status = 'paid'
    ) e order by happened, n`
}

/** Writing many rows takes a fraction of the time without the indexes, and making these anew one more. */
async function putIndexesAside(database: Database): Promise<void> {
  await database.tx(async (sql) => {
    await sql`create table public.indexes_put_aside as
      select pg_get_indexdef(x.indexrelid) as definition, x.indexrelid::regclass::text as name
      from pg_index x
      join pg_class c on c.oid = x.indrelid
      where c.relnamespace = 'payments'::regnamespace and c.relname in ('payment_intents', 'payment_attempts', 'events', 'listed_intents', 'listed_payments')
        and not exists (select from pg_constraint where conindid = x.indexrelid)`
    await sql`do $$ declare name text; begin
      for name in select a.name from public.indexes_put_aside a loop execute 'drop index ' || name; end loop;
    end $$`
  })
}

async function putIndexesBack(database: Database): Promise<void> {
  await database.tx(async (sql) => {
    await sql`select set_config('maintenance_work_mem', '512MB', true)`
    await sql`do $$ declare definition text; begin
      for definition in select a.definition from public.indexes_put_aside a loop execute definition; end loop;
    end $$`
    await sql`drop table public.indexes_put_aside`
  })
}
