create table payments.cases (
  id uuid not null constraint cases_pkey primary key,
  tenant_id uuid not null,
  merchant_id uuid not null,
  kind text not null constraint cases_kind_form check (kind ~ '^[a-z_]{1,40}$'),
  status text not null constraint cases_status check (status in ('open', 'resolved')),
  intent_id uuid,
  attempt_id uuid,
  provider text,
  provider_reference text,
  expected_idr bigint constraint cases_expected check (expected_idr >= 0),
  received_idr bigint,
  currency text not null constraint cases_currency_length check (length(currency) between 1 and 16),
  detail text not null,
  note text constraint cases_note_length check (length(note) between 1 and 1000),
  opened_at timestamptz not null,
  resolved_at timestamptz,
  resolved_by text,
  constraint cases_owner_key unique (tenant_id, merchant_id, id),
  constraint cases_once unique (tenant_id, merchant_id, kind, provider, provider_reference),
  constraint cases_merchant_fkey foreign key (tenant_id, merchant_id) references payments.merchants (tenant_id, id),
  constraint cases_intent_fkey foreign key (tenant_id, merchant_id, intent_id)
    references payments.payment_intents (tenant_id, merchant_id, id),
  constraint cases_attempt_fkey foreign key (tenant_id, merchant_id, attempt_id)
    references payments.payment_attempts (tenant_id, merchant_id, id),
  constraint cases_resolved check (
    (status = 'resolved') = (resolved_at is not null) and (resolved_at is null) = (resolved_by is null)
    and (status = 'resolved' or note is null))
);
comment on table payments.cases is
  'What a person must look at: money that does not fit. One for each kind and payment of a provider, so a repeated proof opens nothing twice (decision 3.7).';
create index cases_newest on payments.cases (merchant_id, opened_at desc, id desc);
create index cases_newest_of_tenant on payments.cases (tenant_id, opened_at desc, id desc);
create index cases_open on payments.cases (merchant_id, opened_at desc, id desc) where status = 'open';
create index cases_by_intent on payments.cases (intent_id) where intent_id is not null;
