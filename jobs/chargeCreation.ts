import { endPaymentAttempt, fillPaymentAttempt } from '../db/payments/paymentAttempts.ts'
import { endPaymentIntent, lockPaymentIntent, revealPaymentIntent } from '../db/payments/paymentIntents.ts'
import type { PaymentIntentRow } from '../db/payments/paymentIntents.ts'
import { finishProviderOperation, takeOverProviderOperation } from '../db/payments/providerOperations.ts'
import type { ProviderOperationRow } from '../db/payments/providerOperations.ts'
import { newId } from '../db/ids.ts'
import { isDatabaseUnavailable } from '../db/sql.ts'
import type { Database, Sql } from '../db/sql.ts'
import { ApiError } from '../domain/apiError.ts'
import { paymentIntentView } from '../domain/paymentIntentView.ts'
import type { PaymentIntentView } from '../domain/paymentIntentView.ts'
import { isUnsettled } from '../providers/paymentProvider.ts'
import type { Charge, CreateChargeResult, Decline, PaymentProvider } from '../providers/paymentProvider.ts'
import { applyPayments } from './applyCharge.ts'
import { giveBack } from './giveBack.ts'
import type { IdempotentReplies, IdempotentRequestScope, StoredAnswer } from './idempotentReplies.ts'
import { writeIntentEvent, writeIntentViewEvent } from './paymentEvents.ts'
import type { EventSettings } from './paymentEvents.ts'
import { askForCharge, chargeOf, endCharge, findUnansweredCharge, isFinished, lockIntentOf, providerOf, releaseOperation, timeLeftSince } from './providerCharges.ts'
import type { TimeLeft } from './providerCharges.ts'

/** What making a charge, and finishing a creation, needs. */
export interface CreationSettings extends EventSettings {
  database: Database
  replies: IdempotentReplies
  providers: ReadonlyMap<string, PaymentProvider>
  /** Who is asked for new charges; null when this deployment has nobody. */
  provider: string | null
  /** Where a provider tells what became of its charges. */
  callbackUrl(provider: string): string
  runtime: EventSettings['runtime'] & { sleep(milliseconds: number): Promise<void> }
}

/** How a creation stands: answered for good, or not known yet. A 503 is never stored. */
export type CreationOutcome = StoredAnswer | 'unknown'

const lookEveryMs = 100
const looksAtMost = 90
/** Looks take time of their own; what a client waits is bounded all the same, and leaves time for a takeover. */
const lookForMs = lookEveryMs * looksAtMost

/**
 * The part of a creation after its first transaction (decision 3.3): the provider's answer, then the second
 * transaction, which only the holder of the lease can commit. `fresh` is the first holder, who need not ask whether
 * the provider knows the key. Answers 'unknown' when the provider did not answer in the time that is left, or another
 * holder has taken over.
 */
export async function finishCreation(
  operation: ProviderOperationRow, fresh: boolean, settings: CreationSettings, timeLeft?: TimeLeft,
): Promise<CreationOutcome> {
  const result = await askForCharge(providerOf(settings.providers, operation), operation, fresh, timeLeft)
  try {
    return await settle(operation, result, settings)
  } catch (error) {
    if (isDatabaseUnavailable(error)) void giveBack(operation, settings)
    throw error
  }
}

/** The second transaction, or the lease given back when the provider did not answer. */
async function settle(operation: ProviderOperationRow, result: CreateChargeResult, settings: CreationSettings): Promise<CreationOutcome> {
  if (isUnsettled(result)) {
    await releaseOperation(operation, settings.database, result)
    return 'unknown'
  }
  const now = settings.runtime.now()
  try {
    return await settings.database.tx(async (sql) => result.outcome === 'declined'
      ? refuse(sql, operation, result.decline, settings, now) : reveal(sql, operation, result.charge, settings, now))
  } catch (error) {
    if (error instanceof TakenOver) return 'unknown'
    throw error
  }
}

/** Another holder has the operation: nothing of this one's is kept. */
class TakenOver extends Error {}

/**
 * What a twin or a retry that came at `since` does with a key whose creation is at work: waits outside transactions and
 * connection slots, looking every 100 ms for at most 9 s, and acts only after taking over a lapsed lease, in the time
 * that is left.
 */
export async function awaitCreation(
  request: IdempotentRequestScope, operationId: string, settings: CreationSettings, since: Date,
): Promise<CreationOutcome> {
  const { database, replies, runtime } = settings
  const { tenantId, ownerId } = request
  const until = since.getTime() + lookForMs
  for (let look = 0; look < looksAtMost && runtime.now().getTime() < until; look += 1) {
    const earlier = await database.query((sql) => replies.find(sql, request))
    if (earlier?.reply) return earlier.reply
    const taken = await database.query((sql) => takeOverProviderOperation(sql, tenantId, ownerId, operationId, newId(runtime)))
    if (taken) {
      const outcome = await finishCreation(taken, false, settings, timeLeftSince(since, runtime))
      if (outcome !== 'unknown') return outcome
      // The provider is silent still, and this try has used the time a client waits.
      if (!(await isFinished(taken, database))) return 'unknown'
    }
    await runtime.sleep(lookEveryMs)
  }
  return 'unknown'
}

/**
 * What the sweep does with a creation that nobody holds: finishes it when its client can still ask for it by key,
 * withdraws it at the provider when not, or when its deadline is past. What nobody can ask for stays hidden.
 */
export async function resumeCreation(tenantId: string, merchantId: string, operationId: string, settings: CreationSettings): Promise<void> {
  const { database, runtime } = settings
  const operation = await database.query((sql) => takeOverProviderOperation(sql, tenantId, merchantId, operationId, newId(runtime)))
  if (!operation) return
  const intent = await database.tx((sql) => lockIntentOf(sql, operation))
  const overdue = intent.intent_expires_at !== null && intent.intent_expires_at <= runtime.now()
  if (operation.idempotency_key !== null && !overdue) await finishCreation(operation, false, settings)
  else await abandonCreation(operation, settings)
}

/** Withdraws a creation: the charge expires at the provider, and so does the intent; without a key hidden and without event. */
async function abandonCreation(operation: ProviderOperationRow, settings: CreationSettings): Promise<void> {
  const provider = providerOf(settings.providers, operation)
  const found = await findUnansweredCharge(provider, operation)
  const ended = found.outcome === 'found' ? await endCharge(provider, chargeOf(operation, found.charge.reference)) : found
  if (isUnsettled(ended)) {
    await releaseOperation(operation, settings.database, ended)
    return
  }
  const now = settings.runtime.now()
  await settings.database.tx(async (sql) => {
    if (!(await finishProviderOperation(sql, operation, 'abandoned', now))) return
    const { tenant_id, merchant_id, intent_id, attempt_id } = operation
    await lockPaymentIntent(sql, tenant_id, merchant_id, intent_id)
    await endPaymentAttempt(sql, tenant_id, merchant_id, attempt_id, 'expired', null)
    const keyed = operation.idempotency_key !== null
    // The owner of a key may still ask for it and must be told what became of it.
    const shown = keyed ? await revealPaymentIntent(sql, tenant_id, merchant_id, intent_id) : undefined
    if (shown) await writeIntentEvent(sql, 'payment_intent.created', shown, {}, settings, now)
    const expired = await endPaymentIntent(sql, tenant_id, merchant_id, intent_id, 'expired', now)
    if (expired?.visible) await writeIntentEvent(sql, 'payment_intent.expired', expired, {}, settings, now)
    // Paid before it could be withdrawn: proven money is always recorded.
    if (ended.outcome === 'ended') await applyPayments(sql, operation, ended.charge, settings, now)
    const intent = await lockIntentOf(sql, operation)
    await storeAnswer(sql, operation, { status: 201, body: paymentIntentView(intent, {}, settings.views, now) }, settings, now)
  })
}

/** The provider took it: fills in the typed fields and shows the intent, unless a proof of payment did so before. */
async function reveal(sql: Sql, operation: ProviderOperationRow, charge: Charge, settings: CreationSettings, now: Date): Promise<StoredAnswer> {
  const { tenant_id, merchant_id, intent_id, attempt_id } = operation
  // Sent together, in this order. The intent before its attempt, as everywhere: two transactions never hold these rows crosswise.
  const [finished, locked, attempt, revealed] = await Promise.all([
    finishProviderOperation(sql, operation, 'answered', now),
    lockIntentOf(sql, operation),
    fillPaymentAttempt(sql, tenant_id, merchant_id, attempt_id, charge.reference, { ...charge.fields }),
    revealPaymentIntent(sql, tenant_id, merchant_id, intent_id),
  ])
  if (!finished) throw new TakenOver()
  const fields = attempt?.fields ?? {}
  const answerOf = (intent: PaymentIntentRow): StoredAnswer => ({ status: 201, body: paymentIntentView(intent, fields, settings.views, now) })
  if (charge.payments.length === 0) {
    const answer = answerOf(revealed ?? locked)
    await Promise.all([
      revealed && writeIntentViewEvent(sql, 'payment_intent.created', revealed, answer.body as PaymentIntentView, settings, now),
      storeAnswer(sql, operation, answer, settings, now),
    ])
    return answer
  }
  if (revealed) await writeIntentEvent(sql, 'payment_intent.created', revealed, fields, settings, now)
  await applyPayments(sql, operation, charge, settings, now)
  const answer = answerOf(await lockIntentOf(sql, operation))
  await storeAnswer(sql, operation, answer, settings, now)
  return answer
}

/** The provider refused: the intent ends failed without ever having been visible, and without event. */
async function refuse(sql: Sql, operation: ProviderOperationRow, { code, message }: Decline, settings: CreationSettings, now: Date): Promise<StoredAnswer> {
  const { tenant_id, merchant_id, intent_id, attempt_id, request_id } = operation
  if (!(await finishProviderOperation(sql, operation, 'refused', now))) throw new TakenOver()
  await endPaymentIntent(sql, tenant_id, merchant_id, intent_id, 'failed', now)
  await endPaymentAttempt(sql, tenant_id, merchant_id, attempt_id, 'failed', code)
  const refusal = new ApiError('provider_declined', { members: { provider: { code, message } } })
  const answer = { status: refusal.status, body: refusal.body(request_id) }
  await storeAnswer(sql, operation, answer, settings, now)
  return answer
}

async function storeAnswer(sql: Sql, operation: ProviderOperationRow, answer: StoredAnswer, { replies }: CreationSettings, now: Date): Promise<void> {
  const { idempotency_operation, idempotency_key, tenant_id, merchant_id, intent_id } = operation
  if (idempotency_operation === null || idempotency_key === null) return
  const scope = { tenantId: tenant_id, ownerId: merchant_id, operationId: idempotency_operation, key: idempotency_key }
  await replies.store(sql, scope, answer, now, intent_id)
}
