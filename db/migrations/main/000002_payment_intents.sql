create table payments.payment_intents (
  id uuid not null constraint payment_intents_pkey primary key,
  tenant_id uuid not null,
  merchant_id uuid not null,
  shortcode text not null constraint payment_intents_shortcode_key unique
    constraint payment_intents_shortcode_form check (shortcode ~ '^[0-9a-hjkmnp-tv-z]{10}$'),
  visible boolean not null,
  status text not null
    constraint payment_intents_status check (status in ('open', 'paid', 'failed', 'expired', 'cancelled', 'reversed')),
  amount_idr bigint not null constraint payment_intents_amount check (amount_idr between 1 and 999999999999),
  max_uses integer not null constraint payment_intents_max_uses check (max_uses >= 0),
  uses integer not null default 0,
  paid_idr bigint not null default 0 constraint payment_intents_paid check (paid_idr >= 0),
  refunded_idr bigint not null default 0,
  overpaid_idr bigint not null default 0 constraint payment_intents_overpaid check (overpaid_idr >= 0),
  description text constraint payment_intents_description_length check (length(description) <= 500),
  allowed_channels text[] not null,
  channel text,
  metadata jsonb not null,
  reference_id text constraint payment_intents_reference_length check (length(reference_id) between 1 and 255),
  return_url text,
  customer jsonb,
  customer_id uuid,
  current_attempt_id uuid,
  late boolean not null default false,
  created_at timestamptz not null,
  intent_expires_at timestamptz,
  paid_at timestamptz,
  ended_at timestamptz,
  constraint payment_intents_owner_key unique (tenant_id, merchant_id, id),
  constraint payment_intents_merchant_fkey foreign key (tenant_id, merchant_id) references payments.merchants (tenant_id, id),
  constraint payment_intents_customer_fkey foreign key (tenant_id, merchant_id, customer_id)
    references payments.customers (tenant_id, merchant_id, id),
  constraint payment_intents_uses check (uses >= 0 and (max_uses = 0 or uses <= max_uses)),
  constraint payment_intents_refunded check (refunded_idr between 0 and paid_idr + overpaid_idr),
  constraint payment_intents_channels check ((channel is null) = (cardinality(allowed_channels) > 0)),
  constraint payment_intents_paid_when check (status <> 'paid' or (paid_at is not null and uses > 0 and visible)),
  constraint payment_intents_one_customer check (customer is null or customer_id is null)
);
comment on table payments.payment_intents is
  'Payments to be taken (decision 3). A row that is not visible is being created, or was refused or abandoned on the way: no read shows it.';
create unique index payment_intents_reference_key on payments.payment_intents (merchant_id, reference_id)
  where reference_id is not null and (visible or status = 'open');
create index payment_intents_newest on payments.payment_intents (merchant_id, created_at desc, id desc) where visible;

create table payments.payment_attempts (
  id uuid not null constraint payment_attempts_pkey primary key,
  tenant_id uuid not null,
  merchant_id uuid not null,
  intent_id uuid not null,
  channel text not null,
  amount_idr bigint not null constraint payment_attempts_amount check (amount_idr between 1 and 999999999999),
  status text not null
    constraint payment_attempts_status check (status in ('pending', 'succeeded', 'failed', 'expired', 'reversed')),
  standing boolean not null,
  provider text,
  provider_key uuid,
  charge_reference text,
  provider_reference text,
  fields jsonb not null default '{}',
  failure_code text,
  expires_at timestamptz,
  created_at timestamptz not null,
  completed_at timestamptz,
  constraint payment_attempts_owner_key unique (tenant_id, merchant_id, id),
  constraint payment_attempts_intent_fkey foreign key (tenant_id, merchant_id, intent_id)
    references payments.payment_intents (tenant_id, merchant_id, id),
  constraint payment_attempts_completed check ((status in ('succeeded', 'reversed')) = (completed_at is not null))
);
comment on table payments.payment_attempts is
  'Tries to pay an intent. A standing attempt takes several payments, each recorded as an attempt of its own beside it (decision 3.4).';
create index payment_attempts_by_intent on payments.payment_attempts (intent_id, created_at desc, id desc);
create index payment_attempts_by_provider_key on payments.payment_attempts (provider_key) where provider_key is not null;
create unique index payment_attempts_paid_once on payments.payment_attempts (provider, provider_reference)
  where status in ('succeeded', 'reversed');

create table payments.provider_operations (
  id uuid not null constraint provider_operations_pkey primary key,
  tenant_id uuid not null,
  merchant_id uuid not null,
  kind text not null constraint provider_operations_kind check (kind in ('create_charge')),
  intent_id uuid not null,
  attempt_id uuid not null,
  provider text not null,
  request jsonb not null,
  recovery_point text not null
    constraint provider_operations_recovery_point check (recovery_point in ('started', 'answered', 'refused', 'abandoned')),
  lease_token uuid,
  lease_until timestamptz not null,
  holders integer not null default 1,
  next_try_at timestamptz not null,
  api_key_id uuid,
  idempotency_operation text,
  idempotency_key text,
  request_id text not null,
  created_at timestamptz not null,
  finished_at timestamptz,
  constraint provider_operations_intent_fkey foreign key (tenant_id, merchant_id, intent_id)
    references payments.payment_intents (tenant_id, merchant_id, id),
  constraint provider_operations_attempt_fkey foreign key (tenant_id, merchant_id, attempt_id)
    references payments.payment_attempts (tenant_id, merchant_id, id),
  constraint provider_operations_idempotency check ((idempotency_operation is null) = (idempotency_key is null)),
  constraint provider_operations_finished check ((recovery_point = 'started') = (finished_at is null))
);
comment on table payments.provider_operations is
  'Calls to a payment provider. The id is the key that the provider echoes; the row exists before the call and its id never changes (decision 3.3).';
create index provider_operations_unfinished on payments.provider_operations (next_try_at) where recovery_point = 'started';
create index provider_operations_by_intent on payments.provider_operations (intent_id);

create table payments.idempotency_keys (
  tenant_id uuid not null,
  owner_id uuid not null,
  operation_id text not null,
  key text not null constraint idempotency_keys_key_form check (key ~ '^[\x21-\x7e]{1,255}$'),
  fingerprint bytea not null constraint idempotency_keys_fingerprint_length check (length(fingerprint) = 32),
  provider_operation_id uuid,
  resource_id uuid,
  status integer,
  reply bytea,
  created_at timestamptz not null,
  replied_at timestamptz,
  constraint idempotency_keys_pkey primary key (owner_id, operation_id, key),
  constraint idempotency_keys_replied check ((status is null) = (replied_at is null))
);
comment on table payments.idempotency_keys is
  'Idempotency keys for ever, and the sealed reply of each for 30 days (decision 3.10). The owner is the merchant, or the tenant for a tenant-wide caller.';

create index idempotency_keys_with_reply on payments.idempotency_keys (replied_at) where reply is not null and status < 300;

create table payments.events (
  id uuid not null constraint events_pkey primary key,
  position bigint not null generated always as identity,
  tenant_id uuid not null,
  merchant_id uuid not null,
  kind text not null,
  intent_id uuid,
  body text not null,
  created_at timestamptz not null,
  constraint events_merchant_fkey foreign key (tenant_id, merchant_id) references payments.merchants (tenant_id, id)
);
comment on table payments.events is 'What happened, as merchants are told; the body is a snapshot and is delivered byte for byte (decision 6.1). The position orders what one transaction wrote.';
create index events_newest on payments.events (merchant_id, position desc);
create index events_by_intent on payments.events (intent_id, position) where intent_id is not null;

create table payments.psp_credentials (
  id uuid not null constraint psp_credentials_pkey primary key,
  tenant_id uuid,
  provider text not null,
  secret bytea not null,
  created_at timestamptz not null
);
comment on table payments.psp_credentials is 'What providers sign their callbacks with, sealed. Without a tenant it serves the whole installation.';

create table payments.provider_callbacks (
  id uuid not null constraint provider_callbacks_pkey primary key,
  credential_id uuid not null constraint provider_callbacks_credential_fkey references payments.psp_credentials (id),
  provider text not null,
  event_id text not null,
  body bytea not null,
  outcome text not null
    constraint provider_callbacks_outcome check (outcome in ('applied', 'repeated', 'unmatched', 'mismatched', 'ignored')),
  detail text,
  intent_id uuid,
  received_at timestamptz not null,
  constraint provider_callbacks_event_key unique (credential_id, event_id)
);
comment on table payments.provider_callbacks is 'Callbacks of providers as they came, and what became of each.';

create table payments.audit_events (
  id uuid not null constraint audit_events_pkey primary key,
  tenant_id uuid not null,
  merchant_id uuid,
  actor text not null,
  action text not null,
  target text not null,
  request_id text not null,
  key_prefix text,
  changed_keys text[] not null default '{}',
  created_at timestamptz not null
);
comment on table payments.audit_events is 'Who did what (decision 5.6): names of what changed, never values. Rows are never changed.';
create index audit_events_newest on payments.audit_events (tenant_id, created_at desc, id desc);
create function payments.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'rows of % are never changed', tg_table_name;
end
$$;
create trigger audit_events_append_only before update on payments.audit_events
  for each row execute function payments.refuse_change();
create trigger events_append_only before update on payments.events
  for each row execute function payments.refuse_change();
