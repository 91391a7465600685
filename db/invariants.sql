-- Invariants of the payments data. Each query returns the rows that break it; none may return any.
-- A query begins at a line `-- <name>: <what holds>`; the names follow the list of invariants I1 to I11, and I12 is of the lists.

-- I1.acknowledged_exists: what was acknowledged, as far as the setting bayar.acknowledged hands it over, is there
select a.kind, a.id
from jsonb_to_recordset(coalesce(nullif(current_setting('bayar.acknowledged', true), ''), '[]')::jsonb) as a (kind text, id uuid)
left join payments.payment_intents i on i.id = a.id and i.visible and a.kind in ('intent', 'paid_intent')
left join payments.events e on e.id = a.id and a.kind = 'event'
where e.id is null and (i.id is null or (a.kind = 'paid_intent' and i.status not in ('paid', 'reversed')));

-- I2.one_intent_per_key: an Idempotency-Key of a merchant and operation made at most one intent
select merchant_id, idempotency_operation, idempotency_key, count(distinct intent_id) as intents
from payments.provider_operations
where idempotency_key is not null
group by merchant_id, idempotency_operation, idempotency_key
having count(distinct intent_id) > 1;

-- I2.one_key_per_intent: an intent is the resource of at most one Idempotency-Key
select resource_id, count(*) as keys
from payments.idempotency_keys
where operation_id = 'createPaymentIntent' and resource_id is not null
group by resource_id
having count(*) > 1;

-- I2.answered_intent_exists: an intent answered under a key exists, belongs to the key's owner and is visible
select k.owner_id, k.key, k.resource_id
from payments.idempotency_keys k
left join payments.payment_intents i
  on i.id = k.resource_id and i.tenant_id = k.tenant_id and i.merchant_id = k.owner_id
where k.operation_id = 'createPaymentIntent' and k.status = 201 and (i.id is null or not i.visible);

-- I2.key_ends_with_its_operation: a key is answered exactly when its provider operation is finished
select k.owner_id, k.key, k.status, o.id as provider_operation_id, o.recovery_point
from payments.idempotency_keys k
left join payments.provider_operations o
  on o.id = k.provider_operation_id and o.tenant_id = k.tenant_id and o.merchant_id = k.owner_id
  and o.idempotency_key = k.key
where k.provider_operation_id is not null
  and (o.id is null or (k.status is null) <> (o.recovery_point = 'started'));

-- I2.no_key_left_open: a key that waits for no provider operation was answered in the transaction that claimed it
select owner_id, operation_id, key from payments.idempotency_keys
where status is null and provider_operation_id is null;

-- I4.ended_when: an intent has the time of its end exactly when it is no longer open
select id, status, ended_at from payments.payment_intents
where (status = 'open') <> (ended_at is null);

-- I4.paid_when: an intent has the time of its payment exactly when it was paid, and paid is paid as often as it may be
select id, status, paid_at, uses, max_uses, visible
from payments.payment_intents
where (status in ('paid', 'reversed')) <> (paid_at is not null)
  or (status in ('paid', 'reversed') and (max_uses = 0 or uses <> max_uses or not visible));

-- I4.paid_once_in_full: a single-use intent that is paid took its own amount
select id, amount_idr, paid_idr
from payments.payment_intents
where max_uses = 1 and uses = 1 and paid_idr <> amount_idr;

-- I4.money_is_attempts: paid_idr and overpaid_idr are what the attempts took, even where it was taken back after it counted
select i.id, i.status, i.paid_idr, i.overpaid_idr, coalesce(a.taken, 0) as taken
from payments.payment_intents i
left join (
  select t.intent_id, sum(t.amount_idr) as taken
  from payments.payment_attempts t
  left join payments.cases c on c.attempt_id = t.id and c.kind = 'reversal'
  where t.status = 'succeeded' or (t.status = 'reversed' and c.expected_idr is not null)
  group by t.intent_id
) a on a.intent_id = i.id
where i.paid_idr + i.overpaid_idr <> coalesce(a.taken, 0);

-- I4.uses_are_attempts: every payment that counted is a use or an overpayment, and nothing else is
select i.id, i.status, i.uses, i.overpaid_idr, coalesce(a.counted, 0) as counted, coalesce(a.overpayments, 0) as overpayments
from payments.payment_intents i
left join (
  select t.intent_id, count(*) as counted,
    count(*) filter (where exists (select from payments.cases o where o.attempt_id = t.id and o.kind = 'overpayment')) as overpayments
  from payments.payment_attempts t
  left join payments.cases c on c.attempt_id = t.id and c.kind = 'reversal'
  where t.status = 'succeeded' or (t.status = 'reversed' and c.expected_idr is not null)
  group by t.intent_id
) a on a.intent_id = i.id
where i.uses + coalesce(a.overpayments, 0) <> coalesce(a.counted, 0);

-- I4.overpaid_has_case: money beyond what an intent takes is the sum of its overpayment cases
select i.id, i.status, i.overpaid_idr, coalesce(c.received, 0) as received
from payments.payment_intents i
left join (
  select intent_id, sum(received_idr) as received from payments.cases where kind = 'overpayment' group by intent_id
) c on c.intent_id = i.id
where i.overpaid_idr <> coalesce(c.received, 0);

-- I4.reversed_has_case: every payment that was taken back, and every intent with it, has a reversal case
select a.intent_id, a.id as attempt_id
from payments.payment_attempts a
where a.status = 'reversed' and not exists (select from payments.cases c where c.attempt_id = a.id and c.kind = 'reversal')
union all
select i.id, null
from payments.payment_intents i
where i.status = 'reversed' and not exists (select from payments.cases c where c.intent_id = i.id and c.kind = 'reversal');

-- I4.case_of_its_merchant: a case is about an intent and an attempt that belong together
select c.id, c.kind, c.intent_id, c.attempt_id
from payments.cases c
left join payments.payment_attempts a on a.id = c.attempt_id and a.tenant_id = c.tenant_id and a.merchant_id = c.merchant_id
where c.attempt_id is not null and a.intent_id is distinct from c.intent_id;

-- I4.hidden_took_nothing: a hidden intent is open, failed or expired, took no money and waits for a provider or did so
select i.id, i.status, i.uses, i.paid_idr, i.overpaid_idr, o.recovery_point
from payments.payment_intents i
left join payments.provider_operations o on o.intent_id = i.id and o.attempt_id = i.current_attempt_id
where not i.visible and (
  i.uses <> 0 or i.paid_idr <> 0 or i.overpaid_idr <> 0
  or (i.status, coalesce(o.recovery_point, 'none'))
    not in (('open', 'started'), ('failed', 'refused'), ('expired', 'abandoned')));

-- I4.shown_when_answered: an intent whose charge the provider confirmed is visible, and its attempt names the charge
select i.id, i.status, o.id as provider_operation_id, a.charge_reference
from payments.provider_operations o
join payments.payment_intents i on i.id = o.intent_id
join payments.payment_attempts a on a.id = o.attempt_id
where o.recovery_point = 'answered' and (not i.visible or a.charge_reference is null);

-- I4.shown_early_by_proof: an intent is visible before its provider answered only when a payment or a decline proved the charge
select i.id, i.status, i.uses, o.id as provider_operation_id, o.recovery_point
from payments.provider_operations o
join payments.payment_intents i on i.id = o.intent_id and i.current_attempt_id = o.attempt_id
join payments.payment_attempts a on a.id = o.attempt_id
where o.recovery_point in ('started', 'refused') and i.visible and i.uses = 0 and i.overpaid_idr = 0 and a.status <> 'failed';

-- I4.attempt_of_its_intent: the current attempt and the operation's attempt are attempts of that same intent
select i.id, a.id as attempt_id, a.intent_id as attempt_intent_id
from payments.payment_intents i
left join payments.payment_attempts a on a.id = i.current_attempt_id
where i.current_attempt_id is not null and a.intent_id is distinct from i.id
union all
select o.intent_id, a.id, a.intent_id
from payments.provider_operations o
join payments.payment_attempts a on a.id = o.attempt_id
where a.intent_id <> o.intent_id;

-- I4.one_operation_per_attempt: an attempt's charge is asked for under one key only
select a.id, a.provider_key, count(o.id) as operations
from payments.payment_attempts a
left join payments.provider_operations o on o.attempt_id = a.id
where a.provider_key is not null
group by a.id, a.provider_key
having count(o.id) <> 1 or bool_or(o.id <> a.provider_key);

-- I5.created_once: a visible intent has exactly one payment_intent.created, a hidden one no event at all
select i.id, i.visible, coalesce(e.created, 0) as created, coalesce(e.events, 0) as events
from payments.payment_intents i
left join (
  select intent_id, count(*) as events, count(*) filter (where kind = 'payment_intent.created') as created
  from payments.events where intent_id is not null group by intent_id
) e on e.intent_id = i.id
where (i.visible and coalesce(e.created, 0) <> 1) or (not i.visible and coalesce(e.events, 0) <> 0);

-- I5.created_first: payment_intent.created comes before every other event of its intent
select id, intent_id, kind, position
from (
  select id, intent_id, kind, position, first_value(kind) over (partition by intent_id order by position) as first_kind
  from payments.events where intent_id is not null
) e
where first_kind <> 'payment_intent.created';

-- I5.completed_per_use: payment.completed is written once for every payment that counts, and for no other
select i.id, i.status, i.uses, coalesce(e.completed, 0) as completed
from payments.payment_intents i
left join (
  select intent_id, count(*) as completed from payments.events where kind = 'payment.completed' group by intent_id
) e on e.intent_id = i.id
where i.uses <> coalesce(e.completed, 0);

-- I5.expired_once: payment_intent.expired is written once when a visible intent expires, else only before late money
select i.id, i.status, i.late, coalesce(e.expired, 0) as expired
from payments.payment_intents i
left join (
  select intent_id, count(*) as expired from payments.events where kind = 'payment_intent.expired' group by intent_id
) e on e.intent_id = i.id
where coalesce(e.expired, 0) > 1
  or (i.visible and i.status = 'expired' and coalesce(e.expired, 0) <> 1)
  or (i.status <> 'expired' and not i.late and coalesce(e.expired, 0) <> 0);

-- I5.failed_once: payment.failed is written once for each attempt that was declined after its charge was made, for none twice, and for no other
select coalesce(a.intent_id, e.intent_id) as intent_id, coalesce(a.id::text, e.attempt_id) as attempt_id, a.status, o.recovery_point,
  coalesce(e.told, 0) as told
from payments.payment_attempts a
left join payments.provider_operations o on o.attempt_id = a.id
full join (
  select intent_id, body::jsonb #>> '{data,attempt,id}' as attempt_id, count(*) as told
  from payments.events where kind = 'payment.failed' group by 1, 2
) e on e.intent_id = a.intent_id and e.attempt_id = a.id::text
where coalesce(e.told, 0) > 1
  or a.id is null
  or (a.status = 'failed' and o.recovery_point is distinct from 'refused' and coalesce(e.told, 0) = 0)
  or (a.status in ('pending', 'expired') and coalesce(e.told, 0) > 0);

-- I5.event_is_what_it_says: an event's body names the same event as its row, and its intent is the merchant's
select e.id, e.kind, e.intent_id
from payments.events e
left join payments.payment_intents i
  on i.id = e.intent_id and i.tenant_id = e.tenant_id and i.merchant_id = e.merchant_id
where (e.intent_id is not null and i.id is null)
  or e.body::jsonb ->> 'id' is distinct from e.id::text
  or e.body::jsonb ->> 'event' is distinct from e.kind
  or e.body::jsonb ->> 'merchant_id' is distinct from e.merchant_id::text;

-- I5.applied_proof_is_money: a provider's callback of a payment that was applied, or known before, is a payment of its intent
select c.id, c.provider, c.event_id, c.intent_id, c.payment_reference
from payments.provider_callbacks c
where c.outcome in ('applied', 'repeated') and c.status in ('paid', 'reversed') and not exists (
  select from payments.payment_attempts a
  where a.intent_id = c.intent_id and a.provider = c.provider and a.status in ('succeeded', 'reversed')
    and a.provider_reference = coalesce(c.payment_reference, a.provider_reference));

-- I5.doubted_money_has_case: a callback of money that does not fit, or never was confirmed, has a case
select c.id, c.provider, c.event_id, c.intent_id, c.outcome, c.payment_reference
from payments.provider_callbacks c
where c.status in ('paid', 'reversed') and c.next_try_at is null and c.outcome in ('mismatched', 'unconfirmed') and not exists (
  select from payments.cases k
  where k.intent_id = c.intent_id and k.provider = c.provider and k.provider_reference = coalesce(c.payment_reference, k.provider_reference)
    and k.kind = case c.outcome when 'mismatched' then 'payment_mismatch' else 'payment_unconfirmed' end);

-- I5.delivered_to_whom_it_matched: an event has a delivery for each subscription that matched it, unless it is old enough to be forgotten
select e.id, e.kind, e.matched, count(d.id) as deliveries
from payments.events e
left join payments.webhook_deliveries d on d.event_id = e.id and d.origin = 'event'
where e.matched is not null
group by e.id, e.kind, e.created_at, e.matched
having count(d.id) > e.matched
  or (count(d.id) < e.matched
    and e.created_at > coalesce((select purged_before + interval '10 seconds' from payments.webhook_retention), '-infinity'));

-- I5.delivery_of_its_event: a delivery, of an event there is, is its merchant's, and so is the subscription
select d.id, d.event_id, d.subscription_id
from payments.webhook_deliveries d
left join payments.events e on e.id = d.event_id and e.tenant_id = d.tenant_id and e.merchant_id = d.merchant_id and e.kind = d.kind
left join payments.webhook_subscriptions s on s.id = d.subscription_id and s.tenant_id = d.tenant_id and s.merchant_id = d.merchant_id
where e.id is null or s.id is null;

-- I6.no_operation_overdue: no unfinished provider operation is more than 60 s past its next try
select id, provider, holders, next_try_at, lease_until from payments.provider_operations
where recovery_point = 'started' and greatest(next_try_at, lease_until) < now() - interval '60 seconds';

-- I6.no_callback_overdue: no callback waits more than 60 s past the time at which it may be processed
select id, provider, outcome, tries, next_try_at from payments.provider_callbacks
where next_try_at < now() - interval '60 seconds' or (outcome = 'received' and next_try_at is null);

-- I6.pending_is_checked: a pending attempt that its provider knows, and that has not just expired, is to be asked about
select a.id, a.provider, a.status, a.expires_at
from payments.payment_attempts a
where a.status = 'pending' and a.provider is not null and a.provider_key is not null
  and (a.expires_at is null or a.expires_at > now() - interval '60 seconds')
  and not exists (select from payments.attempt_checks c where c.attempt_id = a.id);

-- I6.no_delivery_overdue: an active subscription with a delivery that has been due for 60 s had an attempt since, and no lease is 60 s past its end
select d.* from payments.webhook_subscriptions s cross join lateral (
  select subscription_id, id, attempt, coalesce(waits_since, due_at) as since from payments.webhook_deliveries
  where subscription_id = s.id and status = 'pending' and lease_token is null and due_at is not null
    and coalesce(waits_since, due_at) < now() - interval '60 seconds'
  order by coalesce(waits_since, due_at) limit 1
) d
where s.active and not exists (
  select from payments.webhook_deliveries o join payments.webhook_attempts a on a.delivery_id = o.id
  where o.subscription_id = d.subscription_id and a.started_at > now() - interval '60 seconds')
union all
select subscription_id, id, attempt, lease_until from payments.webhook_deliveries where lease_until < now() - interval '60 seconds';

-- I6.none_asleep: a pending delivery that nobody holds has a due time, while its subscription is active and settled
select d.id, d.subscription_id, d.attempt, d.scheduled_at, s.activated_at
from payments.webhook_subscriptions s
join payments.webhook_deliveries d on d.subscription_id = s.id and d.status = 'pending' and d.lease_token is null and d.due_at is null
where s.active and not s.unsettled;

-- I6.no_replay_overdue: no unfinished replay of many deliveries is more than 60 s past its next batch
select id, kind, status, done, due_at from payments.webhook_replays
where ended_at is null and due_at < now() - interval '60 seconds';

-- I8.key_of_its_tenant: the owner of an Idempotency-Key is its tenant or a merchant of it
select k.tenant_id, k.owner_id, k.operation_id
from payments.idempotency_keys k
where k.owner_id <> k.tenant_id
  and not exists (select from payments.merchants m where m.tenant_id = k.tenant_id and m.id = k.owner_id);

-- I8.key_stays_with_its_merchant: what was recorded or asked by an API key is of the key's own tenant and merchant
select r.id, r.tenant_id, r.merchant_id, 'request' as what
from payments.api_key_requests r
left join payments.api_keys k on k.id = r.api_key_id and k.tenant_id = r.tenant_id and k.merchant_id = r.merchant_id
where k.id is null
union all
select o.id, o.tenant_id, o.merchant_id, 'operation'
from payments.provider_operations o
left join payments.api_keys k on k.id = o.api_key_id and k.tenant_id = o.tenant_id and k.merchant_id = o.merchant_id
where o.api_key_id is not null and k.id is null
union all
select e.id, e.tenant_id, e.merchant_id, 'audit row'
from payments.audit_events e
where e.key_prefix is not null and not exists (
  select from payments.api_keys k where k.tenant_id = e.tenant_id and k.merchant_id = e.merchant_id and k.prefix = e.key_prefix);

-- I8.counted_for_its_merchant: what is counted, listed or audited for a merchant is for one of that tenant
select c.tenant_id, c.merchant_id, c.what
from (
  select tenant_id, merchant_id, 'total' as what from payments.list_totals
  union
  select tenant_id, merchant_id, 'change' from payments.list_changes
  union
  select tenant_id, merchant_id, 'audit row' from payments.audit_events where merchant_id is not null
) c
where not exists (select from payments.merchants m where m.tenant_id = c.tenant_id and m.id = c.merchant_id);

-- I9.attempts_without_gap: the attempts of a delivery are numbered from 1 to how many it has had
select d.id, d.attempt, count(a.id) as attempts, min(a.number) as first, max(a.number) as last
from payments.webhook_deliveries d
left join payments.webhook_attempts a on a.delivery_id = d.id
group by d.id, d.attempt
having count(a.id) <> d.attempt or min(a.number) <> 1 or max(a.number) <> d.attempt;

-- I9.one_at_work: an attempt without outcome is the one that holds its delivery, and a delivery that is held has one
select d.id, d.lease_token, a.id as attempt_id, a.outcome
from payments.webhook_deliveries d
join payments.webhook_attempts a on a.delivery_id = d.id
where a.outcome is null and d.lease_token is distinct from a.id
union all
select d.id, d.lease_token, null, null
from payments.webhook_deliveries d
where d.lease_token is not null
  and not exists (select from payments.webhook_attempts a where a.id = d.lease_token and a.delivery_id = d.id and a.outcome is null);

-- I9.none_after_disabling: no attempt began after its subscription ceased to be active, unless that was activated since
select a.id, a.delivery_id, d.subscription_id, a.started_at, s.inactive_since
from payments.webhook_subscriptions s
join payments.webhook_deliveries d on d.subscription_id = s.id
join payments.webhook_attempts a on a.delivery_id = d.id
where a.started_at > s.inactive_since;

-- I10.sensitive_has_audit: each cancellation, each case that was resolved and each subscription that was deleted has its one audit row
select done.tenant_id, done.merchant_id, done.action, done.target, count(e.id) as rows
from (
  select tenant_id, merchant_id, 'payments.payment_intent.cancelled' as action, 'payment_intent:' || id as target
  from payments.payment_intents where status = 'cancelled'
  union all
  select tenant_id, merchant_id, 'payments.case.resolved', 'case:' || id from payments.cases where status = 'resolved'
  union all
  select tenant_id, merchant_id, 'payments.webhook_subscription.deleted', 'webhook_subscription:' || id
  from payments.webhook_subscriptions where deleted_at is not null
  union all
  select tenant_id, merchant_id, 'payments.api_key.revoked', 'api_key:' || id from payments.api_keys where revoked_at is not null
) done
left join payments.audit_events e
  on e.tenant_id = done.tenant_id and e.merchant_id = done.merchant_id and e.action = done.action and e.target = done.target
group by done.tenant_id, done.merchant_id, done.action, done.target
having count(e.id) <> 1;

-- I10.nothing_else_is_audited: an audit row tells of a thing of its merchant that is there: nothing is left of what was rolled back
select e.id, e.action, e.target
from (
  select id, tenant_id, merchant_id, action, target, split_part(target, ':', 1) as kind, split_part(target, ':', 2)::uuid as thing
  from payments.audit_events
) e
left join (
  select tenant_id, merchant_id, id, 'payment_intent' as kind from payments.payment_intents
  union all select tenant_id, merchant_id, id, 'case' from payments.cases
  union all select tenant_id, merchant_id, id, 'webhook_subscription' from payments.webhook_subscriptions
  union all select tenant_id, merchant_id, id, 'api_key' from payments.api_keys
  union all select tenant_id, id, id, 'merchant' from payments.merchants
) t on t.tenant_id = e.tenant_id and t.merchant_id = e.merchant_id and t.id = e.thing and t.kind = e.kind
where t.id is null and e.kind in ('payment_intent', 'case', 'webhook_subscription', 'api_key', 'merchant');

-- I10.names_only: an audit row carries the names of what changed, never a value
select id, action, changed_keys
from payments.audit_events
where exists (select from unnest(changed_keys) as name where name !~ '^[a-z_]+(\.[a-z_0-9]+)*$');

-- I12.seen_as_its_intent: an attempt is visible when its intent is
select a.id, a.visible, i.visible as intent_visible
from payments.payment_attempts a
join payments.payment_intents i on i.tenant_id = a.tenant_id and i.merchant_id = a.merchant_id and i.id = a.intent_id
where a.visible <> i.visible;

-- I12.visible_is_listed: what is visible is listed in its place and found by its own words, and nothing else is
select coalesce(i.id, l.intent_id) as id, i.visible, l.words
from payments.payment_intents i
full join payments.listed_intents l on l.intent_id = i.id and l.tenant_id = i.tenant_id and l.merchant_id = i.merchant_id
where i.visible is not true and l.intent_id is not null or i.visible and (l.intent_id is null or l.created_at <> i.created_at
  or l.words <> payments.searchable(i.shortcode, i.reference_id, i.description, i.customer))
union all
select coalesce(a.id, l.attempt_id), a.visible, l.words
from payments.payment_attempts a
join payments.payment_intents i on i.tenant_id = a.tenant_id and i.merchant_id = a.merchant_id and i.id = a.intent_id
full join payments.listed_payments l on l.attempt_id = a.id and l.tenant_id = a.tenant_id and l.merchant_id = a.merchant_id
where a.visible is not true and l.attempt_id is not null or a.visible and (l.attempt_id is null or l.created_at <> a.created_at
  or l.words <> payments.searchable(i.shortcode, i.reference_id, i.description, i.customer) || E'\x1f' || lower(coalesce(a.provider_reference, '')));

-- I12.totals_are_counts: the total of a list and what has changed since are how many entries it has
select tenant_id, list, merchant_id, sum(told) as told, sum(counted) as counted
from (
  select tenant_id, list, merchant_id, total as told, 0 as counted from payments.list_totals
  union all
  select tenant_id, list, merchant_id, change, 0 from payments.list_changes
  union all
  select tenant_id, 'intents', merchant_id, 0, count(*) from payments.payment_intents where visible group by tenant_id, merchant_id
  union all
  select a.tenant_id, 'payments', a.merchant_id, 0, count(*)
  from payments.payment_attempts a
  join payments.payment_intents i on i.tenant_id = a.tenant_id and i.merchant_id = a.merchant_id and i.id = a.intent_id and i.visible
  group by a.tenant_id, a.merchant_id
  union all
  select tenant_id, 'events', merchant_id, 0, count(*) from payments.events group by tenant_id, merchant_id
  union all
  select tenant_id, 'deliveries', merchant_id, 0, count(*) from payments.webhook_deliveries group by tenant_id, merchant_id
) l
group by tenant_id, list, merchant_id
having sum(told) <> sum(counted);
