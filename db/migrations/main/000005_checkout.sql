alter table payments.provider_operations drop constraint provider_operations_kind;
alter table payments.provider_operations add constraint provider_operations_kind check (kind in ('create_charge', 'choose_channel'));
create unique index provider_operations_one_choice on payments.provider_operations (intent_id)
  where kind = 'choose_channel' and recovery_point = 'started';

create table payments.charge_withdrawals (
  attempt_id uuid not null constraint charge_withdrawals_pkey primary key,
  tenant_id uuid not null,
  merchant_id uuid not null,
  provider text not null,
  tries integer not null default 0,
  next_try_at timestamptz not null,
  done_at timestamptz,
  constraint charge_withdrawals_attempt_fkey foreign key (tenant_id, merchant_id, attempt_id)
    references payments.payment_attempts (tenant_id, merchant_id, id)
);
comment on table payments.charge_withdrawals is
  'Charges that the provider is to expire: written in the transaction that ends or replaces the attempt, done when the provider has answered (decision 3.2).';
create index charge_withdrawals_due on payments.charge_withdrawals (provider, next_try_at) where done_at is null;

create table payments.va_copies (
  attempt_id uuid not null constraint va_copies_pkey primary key,
  tenant_id uuid not null,
  merchant_id uuid not null,
  copies bigint not null constraint va_copies_count check (copies > 0),
  last_copied_at timestamptz not null,
  constraint va_copies_attempt_fkey foreign key (tenant_id, merchant_id, attempt_id)
    references payments.payment_attempts (tenant_id, merchant_id, id)
);
comment on table payments.va_copies is 'How often payers copied the number of a virtual account on the hosted page.';

alter table payments.payment_intents add column changed_at timestamptz not null default now();
alter table payments.payment_attempts add column changed_at timestamptz not null default now();
create function payments.note_change() returns trigger language plpgsql as $$
begin
  new.changed_at = now();
  return new;
end
$$;
create trigger payment_intents_changed before update on payments.payment_intents
  for each row execute function payments.note_change();
create trigger payment_attempts_changed before update on payments.payment_attempts
  for each row execute function payments.note_change();
