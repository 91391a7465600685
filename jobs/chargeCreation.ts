import { endPaymentAttempt, fillPaymentAttempt } from '../db/payments/paymentAttempts.ts'
import { endPaymentIntent, lockPaymentIntent, revealPaymentIntent } from '../db/payments/paymentIntents.ts'
import type { PaymentIntentRow } from '../db/payments/paymentIntents.ts'
import {
  findProviderOperation, finishProviderOperation, leaseSeconds, releaseProviderOperation, takeOverProviderOperation,
} from '../db/payments/providerOperations.ts'
import type { ProviderOperationRow } from '../db/payments/providerOperations.ts'
import { newId } from '../db/ids.ts'
import { isDatabaseUnavailable } from '../db/sql.ts'
import type { Database, DatabaseUnavailable, Sql } from '../db/sql.ts'
import { ApiError } from '../domain/apiError.ts'
import { paymentIntentView } from '../domain/paymentIntentView.ts'
import type { Charge, ChargeRequest, Decline, PaymentProvider } from '../providers/paymentProvider.ts'
import { applyPayment } from './applyPayment.ts'
import type { IdempotentReplies, IdempotentRequestScope, StoredAnswer } from './idempotentReplies.ts'
import { writeIntentEvent } from './paymentEvents.ts'
import type { EventSettings } from './paymentEvents.ts'

/** What finishing a creation needs. */
export interface CreationSettings extends EventSettings {
  database: Database
  replies: IdempotentReplies
  providers: ReadonlyMap<string, PaymentProvider>
  runtime: EventSettings['runtime'] & { sleep(milliseconds: number): Promise<void> }
}

/** How a creation stands: answered for good, or not known yet. A 503 is never stored. */
export type CreationOutcome = StoredAnswer | 'unknown'

/** Waits of the sweep after a try without an answer, in seconds; the last one repeats (decision 3.3). */
const retrySeconds = [30, 120, 600, 3600] as const
const lookEveryMs = 100
const looksAtMost = 90
/** Looks take time of their own; what a client waits is bounded all the same. */
const lookForMs = lookEveryMs * looksAtMost
const giveBackEveryMs = 250

/**
 * The part of a creation after its first transaction (decision 3.3): the provider's answer, then the second
 * transaction, which only the holder of the lease can commit. `fresh` is the first holder, who need not ask whether
 * the provider knows the key. Answers 'unknown' when the provider did not answer, or another holder has taken over.
 */
export async function finishCreation(operation: ProviderOperationRow, fresh: boolean, settings: CreationSettings): Promise<CreationOutcome> {
  const provider = settings.providers.get(operation.provider)
  if (!provider) throw new Error(`the provider ${operation.provider} is not configured`)
  const result = await ask(provider, operation, fresh)
  try {
    return await settle(operation, result, settings)
  } catch (error) {
    if (isDatabaseUnavailable(error)) void giveBack(operation, settings)
    throw error
  }
}

/** The second transaction, or the lease given back when the provider did not answer. */
async function settle(operation: ProviderOperationRow, result: Asked, settings: CreationSettings): Promise<CreationOutcome> {
  if (result.outcome === 'unknown') {
    await release(operation, settings)
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
      if (!(await isFinished(taken, settings))) return 'unknown'
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
  const intent = await database.tx((sql) => readIntent(sql, operation))
  const overdue = intent.intent_expires_at !== null && intent.intent_expires_at <= runtime.now()
  if (operation.idempotency_key !== null && !overdue) await finishCreation(operation, false, settings)
  else await abandonCreation(operation, settings)
}

/** Withdraws a creation: the charge expires at the provider, and so does the intent; without a key hidden and without event. */
async function abandonCreation(operation: ProviderOperationRow, settings: CreationSettings): Promise<void> {
  const provider = settings.providers.get(operation.provider)
  if (!provider) throw new Error(`the provider ${operation.provider} is not configured`)
  const found = await provider.findCharge(operation.id)
  const ended = found.outcome === 'found' ? await provider.expireCharge(found.charge.reference) : found
  if (ended.outcome === 'unknown') {
    await release(operation, settings)
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
    if (expired && keyed) await writeIntentEvent(sql, 'payment_intent.expired', expired, {}, settings, now)
    // Paid before it could be withdrawn: proven money is always recorded.
    if (ended.outcome === 'ended') await applyPayments(sql, operation, ended.charge, settings, now)
    const intent = await readIntent(sql, operation)
    await storeAnswer(sql, operation, { status: 201, body: paymentIntentView(intent, {}, settings.views, now) }, settings, now)
  })
}

type Asked = { outcome: 'charged', charge: Charge } | { outcome: 'declined', decline: Decline } | { outcome: 'unknown' }

async function ask(provider: PaymentProvider, operation: ProviderOperationRow, fresh: boolean): Promise<Asked> {
  if (!fresh) {
    const found = await provider.findCharge(operation.id)
    if (found.outcome === 'found') return { outcome: 'charged', charge: found.charge }
    if (found.outcome === 'unknown') return { outcome: 'unknown' }
  }
  return provider.createCharge(chargeRequestOf(operation))
}

/** The request as it was stored before the first call: the same key is never sent with another. */
function chargeRequestOf({ request }: ProviderOperationRow): ChargeRequest {
  const stored = request as Omit<ChargeRequest, 'expiresAt'> & { expiresAt: string | null }
  return { ...stored, expiresAt: stored.expiresAt === null ? null : new Date(stored.expiresAt) }
}

async function release(operation: ProviderOperationRow, { database }: CreationSettings): Promise<void> {
  const seconds = retrySeconds[Math.min(operation.holders, retrySeconds.length) - 1] ?? retrySeconds[0]
  await database.query((sql) => releaseProviderOperation(sql, operation, seconds))
}

/**
 * Gives the lease of a creation that lost the database back once that is there again, so that the client's retry need
 * not wait until it lapses. Where a transaction was committed after all, or another holds the lease, nothing changes.
 */
export async function giveBack(operation: ProviderOperationRow, { database, runtime }: CreationSettings): Promise<void> {
  for (let waited = 0; waited < leaseSeconds * 1000; waited += giveBackEveryMs) {
    await runtime.sleep(giveBackEveryMs)
    try {
      await database.query((sql) => releaseProviderOperation(sql, operation, 0))
      return
    } catch (error) {
      // A process that ends leaves the lease to lapse, as it does with whatever else is wrong.
      if (!isDatabaseUnavailable(error) || (error as DatabaseUnavailable).reason === 'closed') return
    }
  }
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
  const intent = await readIntent(sql, operation)
  return { status: 201, body: paymentIntentView(intent, attempt?.fields ?? {}, settings.views, now) }
}

async function applyPayments(sql: Sql, operation: ProviderOperationRow, charge: Charge, settings: CreationSettings, now: Date): Promise<void> {
  for (const payment of charge.payments.filter(({ reversed }) => !reversed)) await applyPayment(sql, operation, payment, settings, now)
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

async function readIntent(sql: Sql, { tenant_id, merchant_id, intent_id }: ProviderOperationRow): Promise<PaymentIntentRow> {
  const intent = await lockPaymentIntent(sql, tenant_id, merchant_id, intent_id)
  if (!intent) throw new Error(`payment intent ${intent_id} is not there`)
  return intent
}

async function isFinished({ tenant_id, merchant_id, id }: ProviderOperationRow, { database }: CreationSettings): Promise<boolean> {
  const row = await database.query((sql) => findProviderOperation(sql, tenant_id, merchant_id, id))
  return row?.recovery_point !== 'started'
}

