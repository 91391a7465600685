-- Invariants of the payments data. Each query returns the rows that break it; none may return any.
-- A query begins at a line `-- <name>: <what holds>`; the names follow the list of invariants I1 to I11.

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
select owner_id, operation_id, key
from payments.idempotency_keys
where status is null and provider_operation_id is null;

-- I4.ended_when: an intent has the time of its end exactly when it is no longer open
select id, status, ended_at
from payments.payment_intents
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

-- I4.money_is_attempts: paid_idr and overpaid_idr together are what the succeeded attempts took
select i.id, i.status, i.paid_idr, i.overpaid_idr, coalesce(a.taken, 0) as taken
from payments.payment_intents i
left join (
  select intent_id, sum(amount_idr) as taken
  from payments.payment_attempts where status = 'succeeded' group by intent_id
) a on a.intent_id = i.id
where i.status <> 'reversed' and i.paid_idr + i.overpaid_idr <> coalesce(a.taken, 0);

-- I4.uses_are_attempts: every use is a succeeded attempt, and without an overpayment every succeeded attempt is a use
select i.id, i.status, i.uses, i.overpaid_idr, coalesce(a.successes, 0) as successes
from payments.payment_intents i
left join (
  select intent_id, count(*) as successes
  from payments.payment_attempts where status in ('succeeded', 'reversed') group by intent_id
) a on a.intent_id = i.id
where i.uses > coalesce(a.successes, 0) or (i.overpaid_idr = 0 and i.uses <> coalesce(a.successes, 0));

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

-- I4.shown_early_by_money: an intent is visible before its provider answered only when a payment proved the charge
select i.id, i.status, i.uses, o.id as provider_operation_id, o.recovery_point
from payments.provider_operations o
join payments.payment_intents i on i.id = o.intent_id and i.current_attempt_id = o.attempt_id
where o.recovery_point in ('started', 'refused') and i.visible and i.uses = 0 and i.overpaid_idr = 0;

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

-- I5.event_is_what_it_says: an event's body names the same event as its row, and its intent is the merchant's
select e.id, e.kind, e.intent_id
from payments.events e
left join payments.payment_intents i
  on i.id = e.intent_id and i.tenant_id = e.tenant_id and i.merchant_id = e.merchant_id
where (e.intent_id is not null and i.id is null)
  or e.body::jsonb ->> 'id' is distinct from e.id::text
  or e.body::jsonb ->> 'event' is distinct from e.kind
  or e.body::jsonb ->> 'merchant_id' is distinct from e.merchant_id::text;

-- I5.applied_proof_is_money: a provider's callback that was applied left a succeeded attempt
select c.id, c.provider, c.event_id, c.intent_id
from payments.provider_callbacks c
where c.outcome = 'applied' and not exists (
  select from payments.payment_attempts a
  where a.intent_id = c.intent_id and a.provider = c.provider and a.status in ('succeeded', 'reversed'));

-- I6.no_operation_overdue: no unfinished provider operation is more than 60 s past its next try
select id, provider, holders, next_try_at, lease_until
from payments.provider_operations
where recovery_point = 'started' and greatest(next_try_at, lease_until) < now() - interval '60 seconds';

-- I8.key_of_its_tenant: the owner of an Idempotency-Key is its tenant or a merchant of it
select k.tenant_id, k.owner_id, k.operation_id
from payments.idempotency_keys k
where k.owner_id <> k.tenant_id
  and not exists (select from payments.merchants m where m.tenant_id = k.tenant_id and m.id = k.owner_id);
