create table payments.api_key_requests (
  id uuid not null constraint api_key_requests_pkey primary key,
  tenant_id uuid not null,
  merchant_id uuid not null,
  api_key_id uuid not null constraint api_key_requests_key_fkey references payments.api_keys (id),
  operation_id text not null,
  status integer not null,
  error text,
  address text not null,
  request_id text not null,
  requested_at timestamptz not null
);
comment on table payments.api_key_requests is
  'Requests by API key, for the review after a leak; kept 90 days (decision 5.1). Written in batches after the answer.';
create index api_key_requests_newest on payments.api_key_requests (api_key_id, requested_at desc, id desc);
create index api_key_requests_by_age on payments.api_key_requests (requested_at);
