alter table payments.webhook_subscriptions
  add column previous_secret bytea,
  add column previous_secret_until timestamptz,
  add constraint webhook_subscriptions_previous_secret check ((previous_secret is null) = (previous_secret_until is null)),
  add constraint webhook_subscriptions_deleted_secret check (deleted_at is null or previous_secret is null);
comment on column payments.webhook_subscriptions.previous_secret is
  'The secret before the last rotation, sealed like the current one; it signs beside it until previous_secret_until and is then forgotten.';
create index webhook_subscriptions_previous_secret_until on payments.webhook_subscriptions (previous_secret_until) where previous_secret is not null;
