-- Waiting for a place: what is due is claimed by subscription, in the order in which it became due.
alter table payments.webhook_deliveries add column waits_since timestamptz;
comment on column payments.webhook_deliveries.waits_since is
  'When it became due, if so many are before it that due_at was put off since; it may be claimed before due_at.';
create index webhook_deliveries_line on payments.webhook_deliveries (subscription_id, (coalesce(waits_since, due_at)))
  where status = 'pending' and lease_token is null and due_at is not null;
-- A lease is looked up by its delivery.
drop index payments.webhook_deliveries_lease_token;

-- When a subscription ceased to be active, by the database's clock: no attempt starts after it.
alter table payments.webhook_subscriptions add column inactive_since timestamptz;
update payments.webhook_subscriptions set inactive_since = clock_timestamp() where not active;
create function payments.note_inactivity() returns trigger language plpgsql as $$
begin
  new.inactive_since = case when new.active then null else clock_timestamp() end;
  return new;
end
$$;
create trigger webhook_subscriptions_inactivity before update on payments.webhook_subscriptions
  for each row when (old.active is distinct from new.active) execute function payments.note_inactivity();

-- What was written with an event can be counted, as long as it is kept.
alter table payments.events add column matched integer constraint events_matched check (matched >= 0);
comment on column payments.events.matched is 'How many subscriptions matched it when it was written, each with a delivery. Null before this was recorded.';

-- Finished deliveries go after a time, with their attempts.
create index webhook_deliveries_ended on payments.webhook_deliveries (ended_at) where ended_at is not null;
create table payments.webhook_retention (
  id boolean not null default true constraint webhook_retention_pkey primary key constraint webhook_retention_one check (id),
  purged_before timestamptz not null
);
comment on table payments.webhook_retention is 'The latest time that finished deliveries were forgotten up to; what ended later is all there.';

-- Rows that are written three times and then deleted: vacuum comes after a fiftieth of the table instead of a fifth.
alter table payments.webhook_deliveries set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
-- An attempt is closed where it was begun, if its page has room.
alter table payments.webhook_attempts set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, fillfactor = 60);
