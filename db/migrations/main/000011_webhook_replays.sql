-- What a list of deliveries is filtered by.
alter table payments.webhook_deliveries
  add column kind text,
  add column origin text not null default 'event' constraint webhook_deliveries_origin check (origin in ('event', 'resend')),
  add column replayed_at timestamptz;
update payments.webhook_deliveries d set kind = e.kind from payments.events e where e.id = d.event_id;
-- For processes of the version before this one, which name no kind; those of this one pay nothing for it.
create function payments.name_delivery_kind() returns trigger language plpgsql as $$
begin
  new.kind = (select e.kind from payments.events e where e.tenant_id = new.tenant_id and e.merchant_id = new.merchant_id and e.id = new.event_id);
  return new;
end
$$;
create trigger webhook_deliveries_kind before insert on payments.webhook_deliveries
  for each row when (new.kind is null) execute function payments.name_delivery_kind();
alter table payments.webhook_deliveries alter column kind set not null;
comment on column payments.webhook_deliveries.kind is 'Kind of the event.';
comment on column payments.webhook_deliveries.origin is
  'event: written with its event, whose kind the subscription asked for; resend: made later by resendEvents, for an event that has no delivery to the subscription.';
comment on column payments.webhook_deliveries.replayed_at is 'When somebody last replayed this one delivery.';

alter table payments.webhook_subscriptions add column woken_until timestamptz;
comment on column payments.webhook_subscriptions.woken_until is
  'Up to when deliveries that waited for its latest activation are made due; the next of them come behind (decision 6.5).';

-- What is newest first within a subscription, kind and status: a list merges as many runs of it as it is about. One index, since it is
-- written at every attempt; the dead, of which there are few, have one of their own.
create index webhook_deliveries_newest_of_each on payments.webhook_deliveries (subscription_id, kind, status, created_at desc, id desc);
create index webhook_deliveries_dead on payments.webhook_deliveries (merchant_id, created_at desc, id desc, subscription_id, kind) where status = 'dead';
drop index payments.webhook_deliveries_newest;

create table payments.webhook_replays (
  id uuid not null constraint webhook_replays_pkey primary key,
  tenant_id uuid not null,
  merchant_id uuid not null,
  kind text not null constraint webhook_replays_kind check (kind in ('dead_letters', 'resend')),
  subscription_id uuid,
  event_kinds text[] constraint webhook_replays_event_kinds_some check (cardinality(event_kinds) > 0),
  since timestamptz,
  until timestamptz,
  fingerprint bytea not null constraint webhook_replays_fingerprint_length check (length(fingerprint) = 32),
  status text not null constraint webhook_replays_status check (status in ('queued', 'running', 'succeeded', 'failed')),
  failure_reason text
    constraint webhook_replays_failure_reason check (failure_reason in ('subscription_inactive', 'subscription_deleted')),
  total integer constraint webhook_replays_total check (total >= 0),
  done integer not null default 0 constraint webhook_replays_done check (done >= 0),
  replayed integer not null default 0 constraint webhook_replays_replayed check (replayed between 0 and done),
  cursor_at timestamptz not null default '-infinity',
  cursor_id uuid not null default '00000000-0000-0000-0000-000000000000',
  asked_at timestamptz not null default clock_timestamp(),
  horizon xid8 not null default pg_current_xact_id(),
  last_position bigint not null default coalesce(pg_sequence_last_value('payments.events_position_seq'), 0),
  due_at timestamptz not null,
  created_at timestamptz not null,
  started_at timestamptz,
  ended_at timestamptz,
  constraint webhook_replays_merchant_fkey foreign key (tenant_id, merchant_id) references payments.merchants (tenant_id, id),
  constraint webhook_replays_subscription_fkey foreign key (tenant_id, merchant_id, subscription_id)
    references payments.webhook_subscriptions (tenant_id, merchant_id, id),
  constraint webhook_replays_resend_to_one check (
    kind <> 'resend' or (subscription_id is not null and event_kinds is not null and since is not null)),
  constraint webhook_replays_started check ((status = 'queued') = (started_at is null and ended_at is null)),
  constraint webhook_replays_ended check ((status in ('succeeded', 'failed')) = (ended_at is not null)),
  constraint webhook_replays_failed_why check ((status = 'failed') = (failure_reason is not null))
);
comment on table payments.webhook_replays is
  'Replays of many deliveries, worked off in batches (decisions 6.5, 6.6). A batch and the cursor behind it are one transaction, so each delivery is gone through once. cursor_at and cursor_id are the last delivery (dead_letters) or event (resend) that was gone through.';
comment on column payments.webhook_replays.asked_at is 'By the database''s clock: of the dead, those that were so by then.';
comment on column payments.webhook_replays.horizon is 'The transaction that made it: once every earlier one has ended, no event from before can still turn up.';
comment on column payments.webhook_replays.last_position is 'Position of the last event that was begun before it: whatever the clocks of the processes say, later ones are delivered by themselves.';
create index webhook_replays_due on payments.webhook_replays (due_at) where ended_at is null;
create index webhook_replays_newest on payments.webhook_replays (merchant_id, kind, created_at desc, id desc);
create index webhook_replays_ended on payments.webhook_replays (ended_at) where ended_at is not null;
create unique index webhook_replays_one_resend on payments.webhook_replays (subscription_id) where kind = 'resend' and ended_at is null;
create unique index webhook_replays_one_of_dead on payments.webhook_replays (merchant_id) where kind = 'dead_letters' and ended_at is null;
