import { endPaymentAttempt, fillPaymentAttempt } from '../db/payments/paymentAttempts.ts'
import { endPaymentIntent, lockPaymentIntent, revealPaymentIntent } from '../db/payments/paymentIntents.ts'
import { finishProviderOperation, takeOverProviderOperation } from '../db/payments/providerOperations.ts'
import type { ProviderOperationRow } from '../db/payments/providerOperations.ts'
import { newId } from '../db/ids.ts'
import { isDatabaseUnavailable } from '../db/sql.ts'
import type { Database, Sql } from '../db/sql.ts'
import { ApiError } from '../domain/apiError.ts'
import { paymentIntentView } from '../domain/paymentIntentView.ts'
import type { Charge, Decline, PaymentProvider } from '../providers/paymentProvider.ts'
import { giveBack } from './giveBack.ts'
import type { IdempotentReplies, IdempotentRequestScope, StoredAnswer } from './idempotentReplies.ts'
import { writeIntentEvent } from './paymentEvents.ts'
import type { EventSettings } from './paymentEvents.ts'
import { applyPayments, askForCharge, isFinished, lockIntentOf, providerOf, releaseOperation } from './providerCharges.ts'
import type { ChargeAnswer } from './providerCharges.ts'

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
/** Looks take time of their own; what a client waits is bounded all the same. */
const lookForMs = lookEveryMs * looksAtMost

/**
 * The part of a creation after its first transaction (decision 3.3): the provider's answer, then the second
 * transaction, which only the holder of the lease can commit. `fresh` is the first holder, who need not ask whether
 * the provider knows the key. Answers 'unknown' when the provider did not answer, or another holder has taken over.
 */
export async function finishCreation(operation: ProviderOperationRow, fresh: boolean, settings: CreationSettings): Promise<CreationOutcome> {
  const result = await askForCharge(providerOf(settings.providers, operation), operation, fresh)
  try {
    return await settle(operation, result, settings)
  } catch (error) {
    if (isDatabaseUnavailable(error)) void giveBack(operation, settings)
    throw error
  }
}

/** The second transaction, or the lease given back when the provider did not answer. */
async function settle(operation: ProviderOperationRow, result: ChargeAnswer, settings: CreationSettings): Promise<CreationOutcome> {
  if (result.outcome === 'unknown') {
    await releaseOperation(operation, settings.database)
    return 'unknown'
  }
  const now = settings.runtime.now()
  return settings.database.tx(async (sql) => {
    const declined = result.outcome === 'declined'
    if (!(await finishProviderOperation(sql, operation, declined ? 'refused' : 'answered', now))) return 'unknown'
    const answer = declined ? await refuse(sql, operation, result.decline, now) : await reveal(sql, operation, result.charge, settings, now)
    await storeAnswer(sql, operation, answer, settings, now)
    return answer
  })
}

/**
 * What a twin or a retry does with a key whose creation is at work: waits outside transactions and connection slots,
 * looking every 100 ms for at most 9 s, and acts only after taking over a lapsed lease.
 */
export async function awaitCreation(request: IdempotentRequestScope, operationId: string, settings: CreationSettings): Promise<CreationOutcome> {
  const { database, replies, runtime } = settings
  const { tenantId, ownerId } = request
  const until = runtime.now().getTime() + lookForMs
  for (let look = 0; look < looksAtMost && runtime.now().getTime() < until; look += 1) {
    const earlier = await database.query((sql) => replies.find(sql, request))
    if (earlier?.reply) return earlier.reply
    const taken = await database.query((sql) => takeOverProviderOperation(sql, tenantId, ownerId, operationId, newId(runtime)))
    if (taken) {
      const outcome = await finishCreation(taken, false, settings)
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
  const found = await provider.findCharge(operation.id)
  const ended = found.outcome === 'found' ? await provider.expireCharge(found.charge.reference) : found
  if (ended.outcome === 'unknown') {
    await releaseOperation(operation, settings.database)
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
  // The intent first, as everywhere: two transactions never hold these rows crosswise.
  await lockPaymentIntent(sql, tenant_id, merchant_id, intent_id)
  const attempt = await fillPaymentAttempt(sql, tenant_id, merchant_id, attempt_id, charge.reference, { ...charge.fields })
  const revealed = await revealPaymentIntent(sql, tenant_id, merchant_id, intent_id)
  if (revealed) await writeIntentEvent(sql, 'payment_intent.created', revealed, attempt?.fields ?? {}, settings, now)
  await applyPayments(sql, operation, charge, settings, now)
  const intent = await lockIntentOf(sql, operation)
  return { status: 201, body: paymentIntentView(intent, attempt?.fields ?? {}, settings.views, now) }
}

/** The provider refused: the intent ends failed without ever having been visible, and without event. */
async function refuse(sql: Sql, operation: ProviderOperationRow, { code, message }: Decline, now: Date): Promise<StoredAnswer> {
  const { tenant_id, merchant_id, intent_id, attempt_id, request_id } = operation
  await endPaymentIntent(sql, tenant_id, merchant_id, intent_id, 'failed', now)
  await endPaymentAttempt(sql, tenant_id, merchant_id, attempt_id, 'failed', code)
  const refusal = new ApiError('provider_declined', { members: { provider: { code, message } } })
  return { status: refusal.status, body: refusal.body(request_id) }
}

async function storeAnswer(sql: Sql, operation: ProviderOperationRow, answer: StoredAnswer, { replies }: CreationSettings, now: Date): Promise<void> {
  const { idempotency_operation, idempotency_key, tenant_id, merchant_id, intent_id } = operation
  if (idempotency_operation === null || idempotency_key === null) return
  const scope = { tenantId: tenant_id, ownerId: merchant_id, operationId: idempotency_operation, key: idempotency_key }
  await replies.store(sql, scope, answer, now, intent_id)
}
