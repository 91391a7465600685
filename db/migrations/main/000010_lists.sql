-- Both are trusted extensions: a role that may create in the database creates them, or an administrator has done so before.
create extension if not exists pg_trgm;
create extension if not exists btree_gin;

create table payments.listed_intents (
  intent_id uuid not null constraint listed_intents_pkey primary key,
  tenant_id uuid not null,
  merchant_id uuid not null,
  created_at timestamptz not null,
  words text not null
) with (autovacuum_vacuum_insert_scale_factor = 0.02);
comment on table payments.listed_intents is
  'Each visible intent once, with what search looks in, in lower case. Written by triggers; a change of state leaves it and its large index alone.';

create table payments.listed_payments (
  attempt_id uuid not null constraint listed_payments_pkey primary key,
  tenant_id uuid not null,
  merchant_id uuid not null,
  created_at timestamptz not null,
  words text not null
) with (autovacuum_vacuum_insert_scale_factor = 0.02);
comment on table payments.listed_payments is 'Each attempt of a visible intent once, with what search looks in, in lower case. Written by triggers.';

create table payments.list_totals (
  tenant_id uuid not null,
  list text not null constraint list_totals_list check (list in ('intents', 'payments', 'events')),
  merchant_id uuid not null,
  total bigint not null,
  constraint list_totals_pkey primary key (tenant_id, list, merchant_id)
);
comment on table payments.list_totals is 'How many entries a list has, but for the changes in list_changes: the sum of both is exact at every moment.';

create table payments.list_changes (
  tenant_id uuid not null,
  list text not null constraint list_changes_list check (list in ('intents', 'payments', 'events')),
  merchant_id uuid not null,
  change bigint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
comment on table payments.list_changes is
  'What was added to a list and taken from it, a row for each statement that did so, until a worker adds it to list_totals: no two creations wait for one row.';
create index list_changes_by_list on payments.list_changes (tenant_id, list, merchant_id) include (change);

alter table payments.payment_attempts add column visible boolean not null default true;
alter table payments.payment_attempts alter column visible drop default;
update payments.payment_attempts a set visible = false
from payments.payment_intents i
where i.id = a.intent_id and i.merchant_id = a.merchant_id and i.tenant_id = a.tenant_id and not i.visible;
comment on column payments.payment_attempts.visible is 'That of its intent; kept by triggers.';

-- The unit separator keeps a search from matching across two members.
create function payments.searchable(shortcode text, reference_id text, description text, customer jsonb) returns text
  language sql immutable parallel safe as $$
  select lower(shortcode || E'\x1f' || coalesce(reference_id, '') || E'\x1f' || coalesce(description, '') || E'\x1f'
    || coalesce(customer ->> 'name', '') || E'\x1f' || coalesce(customer ->> 'email', '') || E'\x1f' || coalesce(customer ->> 'phone', ''))
$$;

create function payments.list_added_intents() returns trigger language plpgsql as $$
begin
  with listed as (
    insert into payments.listed_intents (intent_id, tenant_id, merchant_id, created_at, words)
    select id, tenant_id, merchant_id, created_at, payments.searchable(shortcode, reference_id, description, customer)
    from added where visible
    returning tenant_id, merchant_id)
  insert into payments.list_changes (tenant_id, list, merchant_id, change)
  select tenant_id, 'intents', merchant_id, count(*) from listed group by tenant_id, merchant_id;
  return null;
end
$$;
create function payments.list_shown_intent() returns trigger language plpgsql as $$
begin
  if new.visible then
    insert into payments.listed_intents (intent_id, tenant_id, merchant_id, created_at, words)
    values (new.id, new.tenant_id, new.merchant_id, new.created_at,
      payments.searchable(new.shortcode, new.reference_id, new.description, new.customer));
  else
    delete from payments.listed_intents where intent_id = new.id;
  end if;
  insert into payments.list_changes (tenant_id, list, merchant_id, change)
  values (new.tenant_id, 'intents', new.merchant_id, case when new.visible then 1 else -1 end);
  update payments.payment_attempts set visible = new.visible
  where tenant_id = new.tenant_id and merchant_id = new.merchant_id and intent_id = new.id and visible <> new.visible;
  return null;
end
$$;
create function payments.list_changed_intent() returns trigger language plpgsql as $$
declare
  words text := payments.searchable(new.shortcode, new.reference_id, new.description, new.customer);
begin
  update payments.listed_intents l set words = list_changed_intent.words where l.intent_id = new.id;
  update payments.listed_payments l set words = list_changed_intent.words || E'\x1f' || lower(coalesce(a.provider_reference, ''))
  from payments.payment_attempts a where a.intent_id = new.id and a.visible and l.attempt_id = a.id;
  return null;
end
$$;
create function payments.unlist_intents() returns trigger language plpgsql as $$
begin
  with unlisted as (
    delete from payments.listed_intents l using removed r where l.intent_id = r.id
    returning l.tenant_id, l.merchant_id)
  insert into payments.list_changes (tenant_id, list, merchant_id, change)
  select tenant_id, 'intents', merchant_id, -count(*) from unlisted group by tenant_id, merchant_id;
  return null;
end
$$;

-- The lock lets no intent become visible between this look and the end of the transaction.
create function payments.see_intent() returns trigger language plpgsql as $$
begin
  select i.visible into new.visible from payments.payment_intents i
  where i.tenant_id = new.tenant_id and i.merchant_id = new.merchant_id and i.id = new.intent_id
  for share;
  new.visible = coalesce(new.visible, false);
  return new;
end
$$;
create function payments.list_added_payments() returns trigger language plpgsql as $$
begin
  with listed as (
    insert into payments.listed_payments (attempt_id, tenant_id, merchant_id, created_at, words)
    select a.id, a.tenant_id, a.merchant_id, a.created_at,
      payments.searchable(i.shortcode, i.reference_id, i.description, i.customer) || E'\x1f' || lower(coalesce(a.provider_reference, ''))
    from added a
    join payments.payment_intents i on i.tenant_id = a.tenant_id and i.merchant_id = a.merchant_id and i.id = a.intent_id
    where a.visible
    returning tenant_id, merchant_id)
  insert into payments.list_changes (tenant_id, list, merchant_id, change)
  select tenant_id, 'payments', merchant_id, count(*) from listed group by tenant_id, merchant_id;
  return null;
end
$$;
create function payments.list_changed_payment() returns trigger language plpgsql as $$
begin
  if new.visible then
    insert into payments.listed_payments as l (attempt_id, tenant_id, merchant_id, created_at, words)
    select new.id, new.tenant_id, new.merchant_id, new.created_at,
      payments.searchable(i.shortcode, i.reference_id, i.description, i.customer) || E'\x1f' || lower(coalesce(new.provider_reference, ''))
    from payments.payment_intents i
    where i.tenant_id = new.tenant_id and i.merchant_id = new.merchant_id and i.id = new.intent_id
    on conflict (attempt_id) do update set words = excluded.words;
  else
    delete from payments.listed_payments where attempt_id = new.id;
  end if;
  if new.visible <> old.visible then
    insert into payments.list_changes (tenant_id, list, merchant_id, change)
    values (new.tenant_id, 'payments', new.merchant_id, case when new.visible then 1 else -1 end);
  end if;
  return null;
end
$$;
create function payments.unlist_payments() returns trigger language plpgsql as $$
begin
  with unlisted as (
    delete from payments.listed_payments l using removed r where l.attempt_id = r.id
    returning l.tenant_id, l.merchant_id)
  insert into payments.list_changes (tenant_id, list, merchant_id, change)
  select tenant_id, 'payments', merchant_id, -count(*) from unlisted group by tenant_id, merchant_id;
  return null;
end
$$;

create function payments.count_added_events() returns trigger language plpgsql as $$
begin
  insert into payments.list_changes (tenant_id, list, merchant_id, change)
  select tenant_id, 'events', merchant_id, count(*) from added group by tenant_id, merchant_id;
  return null;
end
$$;
create function payments.count_removed_events() returns trigger language plpgsql as $$
begin
  insert into payments.list_changes (tenant_id, list, merchant_id, change)
  select tenant_id, 'events', merchant_id, -count(*) from removed group by tenant_id, merchant_id;
  return null;
end
$$;

-- What is there already.
insert into payments.listed_intents (intent_id, tenant_id, merchant_id, created_at, words)
select id, tenant_id, merchant_id, created_at, payments.searchable(shortcode, reference_id, description, customer)
from payments.payment_intents where visible order by created_at;
insert into payments.listed_payments (attempt_id, tenant_id, merchant_id, created_at, words)
select a.id, a.tenant_id, a.merchant_id, a.created_at,
  payments.searchable(i.shortcode, i.reference_id, i.description, i.customer) || E'\x1f' || lower(coalesce(a.provider_reference, ''))
from payments.payment_attempts a
join payments.payment_intents i on i.tenant_id = a.tenant_id and i.merchant_id = a.merchant_id and i.id = a.intent_id
where a.visible order by a.created_at;
insert into payments.list_totals (tenant_id, list, merchant_id, total)
select tenant_id, 'intents', merchant_id, count(*) from payments.listed_intents group by tenant_id, merchant_id
union all
select tenant_id, 'payments', merchant_id, count(*) from payments.listed_payments group by tenant_id, merchant_id
union all
select tenant_id, 'events', merchant_id, count(*) from payments.events group by tenant_id, merchant_id;

create trigger payment_intents_listed after insert on payments.payment_intents
  referencing new table as added for each statement execute function payments.list_added_intents();
create trigger payment_intents_shown after update on payments.payment_intents
  for each row when (old.visible <> new.visible) execute function payments.list_shown_intent();
create trigger payment_intents_reworded after update on payments.payment_intents
  for each row when (old.visible and new.visible and (old.shortcode, old.reference_id, old.description, old.customer)
    is distinct from (new.shortcode, new.reference_id, new.description, new.customer))
  execute function payments.list_changed_intent();
create trigger payment_intents_unlisted after delete on payments.payment_intents
  referencing old table as removed for each statement execute function payments.unlist_intents();
create trigger payment_attempts_seen before insert on payments.payment_attempts
  for each row execute function payments.see_intent();
create trigger payment_attempts_listed after insert on payments.payment_attempts
  referencing new table as added for each statement execute function payments.list_added_payments();
create trigger payment_attempts_reworded after update on payments.payment_attempts
  for each row when (old.visible <> new.visible or (new.visible and old.provider_reference is distinct from new.provider_reference))
  execute function payments.list_changed_payment();
create trigger payment_attempts_unlisted after delete on payments.payment_attempts
  referencing old table as removed for each statement execute function payments.unlist_payments();
create trigger events_counted after insert on payments.events
  referencing new table as added for each statement execute function payments.count_added_events();
create trigger events_uncounted after delete on payments.events
  referencing old table as removed for each statement execute function payments.count_removed_events();

create index listed_intents_newest on payments.listed_intents (tenant_id, merchant_id, created_at, intent_id);
create index listed_intents_newest_of_tenant on payments.listed_intents (tenant_id, created_at, intent_id);
create index listed_intents_words on payments.listed_intents using gin (tenant_id, merchant_id, words gin_trgm_ops);
create index listed_payments_newest on payments.listed_payments (tenant_id, merchant_id, created_at, attempt_id);
create index listed_payments_newest_of_tenant on payments.listed_payments (tenant_id, created_at, attempt_id);
create index listed_payments_words on payments.listed_payments using gin (tenant_id, merchant_id, words gin_trgm_ops);

drop index payments.payment_intents_newest;
drop index payments.payment_intents_newest_of_tenant;
drop index payments.payment_intents_metadata;
create index payment_intents_by_status on payments.payment_intents (tenant_id, merchant_id, status, created_at, id)
  include (intent_expires_at, channel, allowed_channels) where visible;
create index payment_intents_by_payment on payments.payment_intents (tenant_id, merchant_id, paid_at, created_at, id)
  where visible and paid_at is not null;
create index payment_intents_by_attributes on payments.payment_intents
  using gin (tenant_id, merchant_id, metadata jsonb_path_ops, (case when channel is null then allowed_channels else array[channel] end)) where visible;
-- A partial index lends its statistics to no plan, and without any every channel looks rare.
create statistics payments.payment_intents_channels on (case when channel is null then allowed_channels else array[channel] end)
  from payments.payment_intents;

drop index payments.payment_attempts_newest;
drop index payments.payment_attempts_newest_of_tenant;
create index payment_attempts_by_status on payments.payment_attempts (tenant_id, merchant_id, status, created_at, id)
  include (expires_at, channel) where visible;
create index payment_attempts_by_channel on payments.payment_attempts (tenant_id, merchant_id, channel, created_at, id) where visible;
create index payment_attempts_by_payment on payments.payment_attempts (tenant_id, merchant_id, completed_at, created_at, id)
  include (channel) where visible and completed_at is not null;

drop index payments.events_newest;
drop index payments.events_by_tenant;
drop index payments.events_by_kind;
create index events_newest on payments.events (tenant_id, merchant_id, position) include (id);
create index events_newest_of_tenant on payments.events (tenant_id, position) include (id);
create index events_by_kind on payments.events (tenant_id, merchant_id, kind, position) include (id);
create index events_since on payments.events (tenant_id, merchant_id, created_at, id) include (kind, position);
