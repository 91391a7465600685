-- A callback that matched nothing may have come from a provider that is ahead of itself, or of another deployment.
alter table payments.provider_callbacks
  add column tries integer not null default 1,
  add column next_try_at timestamptz;
comment on column payments.provider_callbacks.next_try_at is 'When an unmatched callback is applied anew; null once it is settled or given up.';
create index provider_callbacks_due on payments.provider_callbacks (next_try_at) where next_try_at is not null;
