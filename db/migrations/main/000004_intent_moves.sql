create index payment_intents_due on payments.payment_intents (intent_expires_at)
  where status = 'open' and visible and intent_expires_at is not null;
create index payment_intents_newest_of_tenant on payments.payment_intents (tenant_id, created_at desc, id desc) where visible;
create index payment_intents_metadata on payments.payment_intents using gin (metadata jsonb_path_ops) where visible;

create index payment_attempts_due on payments.payment_attempts (expires_at) where status = 'pending' and expires_at is not null;
create index payment_attempts_newest on payments.payment_attempts (merchant_id, created_at desc, id desc);
create index payment_attempts_newest_of_tenant on payments.payment_attempts (tenant_id, created_at desc, id desc);
