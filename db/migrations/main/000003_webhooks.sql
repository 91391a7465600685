create table payments.webhook_subscriptions (
  id uuid not null constraint webhook_subscriptions_pkey primary key,
  tenant_id uuid not null,
  merchant_id uuid not null,
  url text not null constraint webhook_subscriptions_url_form check (url ~* '^https:' and length(url) <= 2048),
  description text constraint webhook_subscriptions_description_length check (length(description) <= 200),
  secret bytea not null,
  events text[] not null constraint webhook_subscriptions_events_some check (cardinality(events) > 0),
  active boolean not null,
  unsettled boolean not null default false,
  created_at timestamptz not null,
  activated_at timestamptz not null,
  last_failure_at timestamptz,
  last_success_at timestamptz,
  disabled_at timestamptz,
  disabled_reason text
    constraint webhook_subscriptions_disabled_reason check (disabled_reason in ('paused', 'failures')),
  deleted_at timestamptz,
  constraint webhook_subscriptions_merchant_fkey foreign key (tenant_id, merchant_id) references payments.merchants (tenant_id, id),
  constraint webhook_subscriptions_owner_key unique (tenant_id, merchant_id, id),
  constraint webhook_subscriptions_disabled check (deleted_at is not null or active = (disabled_at is null)),
  constraint webhook_subscriptions_disabled_why check ((disabled_at is null) = (disabled_reason is null)),
  constraint webhook_subscriptions_deleted check (deleted_at is null or not active)
);
comment on table payments.webhook_subscriptions is
  'Where merchants are told of events (decision 6). The secret is sealed. Unsettled: its waiting deliveries are to be gone through, after an activation or deletion. Times that failures are counted from are of the database''s clock.';
create index webhook_subscriptions_newest on payments.webhook_subscriptions (merchant_id, created_at desc, id desc) where deleted_at is null;
create index webhook_subscriptions_by_tenant on payments.webhook_subscriptions (tenant_id, created_at desc, id desc) where deleted_at is null;
create index webhook_subscriptions_unsettled on payments.webhook_subscriptions (id) where unsettled;

create table payments.webhook_deliveries (
  id uuid not null constraint webhook_deliveries_pkey primary key,
  tenant_id uuid not null,
  merchant_id uuid not null,
  event_id uuid not null constraint webhook_deliveries_event_fkey references payments.events (id),
  subscription_id uuid not null,
  status text not null constraint webhook_deliveries_status check (status in ('pending', 'delivered', 'dead')),
  attempt integer not null default 0 constraint webhook_deliveries_attempt check (attempt >= 0),
  round_failures integer not null default 0 constraint webhook_deliveries_round_failures check (round_failures >= 0),
  round_started_at timestamptz not null,
  due_at timestamptz,
  scheduled_at timestamptz not null,
  lease_token uuid,
  lease_until timestamptz,
  dead_reason text
    constraint webhook_deliveries_dead_reason check (dead_reason in ('failures', 'exhausted', 'subscription_deleted')),
  created_at timestamptz not null,
  ended_at timestamptz,
  constraint webhook_deliveries_subscription_fkey foreign key (tenant_id, merchant_id, subscription_id)
    references payments.webhook_subscriptions (tenant_id, merchant_id, id),
  constraint webhook_deliveries_owner_key unique (tenant_id, merchant_id, id),
  constraint webhook_deliveries_once unique (event_id, subscription_id),
  constraint webhook_deliveries_lease check ((lease_token is null) = (lease_until is null)),
  constraint webhook_deliveries_ended check ((status = 'pending') = (ended_at is null)),
  constraint webhook_deliveries_ended_idle check (status = 'pending' or (lease_token is null and due_at is null)),
  constraint webhook_deliveries_dead_why check ((status = 'dead') = (dead_reason is not null))
);
comment on table payments.webhook_deliveries is
  'An event on its way to a subscription (decision 6.3). Pending without due_at: it waits for its subscription to be active. The lease token is the id of the attempt at work.';
create index webhook_deliveries_due on payments.webhook_deliveries (due_at) where status = 'pending' and lease_token is null;
create index webhook_deliveries_leased on payments.webhook_deliveries (lease_until) where lease_token is not null;
create unique index webhook_deliveries_lease_token on payments.webhook_deliveries (lease_token) where lease_token is not null;
create index webhook_deliveries_pending on payments.webhook_deliveries (subscription_id, id) where status = 'pending';
create index webhook_deliveries_newest on payments.webhook_deliveries (merchant_id, created_at desc, id desc);

create table payments.webhook_attempts (
  id uuid not null constraint webhook_attempts_pkey primary key,
  tenant_id uuid not null,
  merchant_id uuid not null,
  delivery_id uuid not null,
  number integer not null constraint webhook_attempts_number_positive check (number > 0),
  outcome text constraint webhook_attempts_outcome check (outcome in ('succeeded', 'failed', 'lost')),
  status integer,
  response_headers jsonb,
  response_body bytea constraint webhook_attempts_response_body_length check (length(response_body) <= 2048),
  duration_ms integer,
  error text,
  started_at timestamptz not null,
  ended_at timestamptz,
  constraint webhook_attempts_delivery_fkey foreign key (tenant_id, merchant_id, delivery_id)
    references payments.webhook_deliveries (tenant_id, merchant_id, id),
  constraint webhook_attempts_number_key unique (delivery_id, number),
  constraint webhook_attempts_ended check ((outcome is null) = (ended_at is null))
);
comment on table payments.webhook_attempts is
  'Tries of a delivery; the id is what the receiver sees as X-Service-Delivery-Id. Without outcome it is at work; lost is one whose worker ended, neither failure nor success.';

create index events_by_tenant on payments.events (tenant_id, position desc);
create index events_by_kind on payments.events (merchant_id, kind, position desc);
