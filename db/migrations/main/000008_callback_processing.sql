-- A callback is stored and answered first, and processed after that: until then it is `received`.
alter table payments.provider_callbacks drop constraint provider_callbacks_outcome;
alter table payments.provider_callbacks add constraint provider_callbacks_outcome
  check (outcome in ('received', 'applied', 'repeated', 'ignored', 'mismatched', 'unconfirmed', 'unmatched'));
alter table payments.provider_callbacks
  add column headers jsonb not null default '{}',
  add column status text,
  add column payment_reference text,
  add column lease_token uuid,
  alter column tries set default 0;
comment on column payments.provider_callbacks.headers is 'Those headers that its provider names; never a credential.';
comment on column payments.provider_callbacks.status is 'What it says of the charge; null where it cannot be read.';
comment on column payments.provider_callbacks.next_try_at is
  'When whoever finds it may process it: the end of its holder''s lease, or the next try of one that was not confirmed or matched nothing; null once it is settled.';
drop index payments.provider_callbacks_due;
create index provider_callbacks_due on payments.provider_callbacks (provider, next_try_at) where next_try_at is not null;

create table payments.attempt_checks (
  attempt_id uuid not null constraint attempt_checks_pkey primary key,
  tenant_id uuid not null,
  merchant_id uuid not null,
  provider text not null,
  checks integer not null default 0,
  next_check_at timestamptz not null,
  constraint attempt_checks_attempt_fkey foreign key (tenant_id, merchant_id, attempt_id)
    references payments.payment_attempts (tenant_id, merchant_id, id)
);
comment on table payments.attempt_checks is
  'Attempts that their provider is still to be asked about: as long as they may be paid, and once after that. The row goes with the last check.';
create index attempt_checks_due on payments.attempt_checks (provider, next_check_at);
insert into payments.attempt_checks (attempt_id, tenant_id, merchant_id, provider, next_check_at)
select id, tenant_id, merchant_id, provider, now() + random() * interval '10 minutes'
from payments.payment_attempts
where status = 'pending' and provider is not null and provider_key is not null;
