-- Subscriptions that are to be gone through, the longest neglected first; those that were never are before all others.
create index webhook_subscriptions_neglected on payments.webhook_subscriptions (woken_until nulls first, id) where unsettled;
drop index payments.webhook_subscriptions_unsettled;
comment on column payments.webhook_subscriptions.woken_until is
  'Up to when deliveries that waited for its latest activation are made due; the next of them come behind (decision 6.5). Of a deleted one: when deliveries were last ended.';
