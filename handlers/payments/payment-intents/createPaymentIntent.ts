import { isApiKeyLive } from '../../../db/payments/apiKeys.ts'
import { findMerchant, hasCustomer } from '../../../db/payments/merchants.ts'
import type { MerchantRow } from '../../../db/payments/merchants.ts'
import { findIntentByReference, findPaymentIntent, insertPaymentIntent } from '../../../db/payments/paymentIntents.ts'
import type { PaymentIntentRow } from '../../../db/payments/paymentIntents.ts'
import { insertPaymentAttempt } from '../../../db/payments/paymentAttempts.ts'
import { insertProviderOperation } from '../../../db/payments/providerOperations.ts'
import type { ProviderOperationRow } from '../../../db/payments/providerOperations.ts'
import { newId, newShortcode } from '../../../db/ids.ts'
import { constraintOf, isDatabaseUnavailable } from '../../../db/sql.ts'
import type { Sql } from '../../../db/sql.ts'
import { channelOf } from '../../../domain/channels.ts'
import { paymentIntentView } from '../../../domain/paymentIntentView.ts'
import type { PaymentIntentView } from '../../../domain/paymentIntentView.ts'
import { awaitCreation, finishCreation } from '../../../jobs/chargeCreation.ts'
import type { CreationOutcome } from '../../../jobs/chargeCreation.ts'
import { newAttempt, startedOperation } from '../../../jobs/chargeRequest.ts'
import { giveBack } from '../../../jobs/giveBack.ts'
import type { EarlierRequest, IdempotentRequestScope } from '../../../jobs/idempotentReplies.ts'
import { writeIntentViewEvent } from '../../../jobs/paymentEvents.ts'
import { chargingProvider, timeLeftSince } from '../../../jobs/providerCharges.ts'
import { isServed } from '../../../providers/servedChannels.ts'
import { soleMerchant } from '../addressedMerchant.ts'
import type { Fail, StoredReply } from '../../http/handler.ts'
import type { Handler } from '../handler.ts'
import { assertChannels, readDraft } from './paymentIntentDraft.ts'
import type { PaymentIntentDraft } from './paymentIntentDraft.ts'

type Context = Parameters<Handler<'createPaymentIntent'>>[0]
type Started =
  | { state: 'created', view: PaymentIntentView }
  | { state: 'calling', operation: ProviderOperationRow }
  | { state: 'earlier', earlier: EarlierRequest }

/** The operation of a first transaction, told also when its commit is not. */
interface Begun {
  operation?: ProviderOperationRow
}

const shortcodeTries = 3

class ShortcodeTaken extends Error {}

export const createPaymentIntent: Handler<'createPaymentIntent'> = async (context) => {
  const { app, body, caller, db, fail, idempotencyKey, reach } = context
  const merchantId = body.merchant_id ?? await db.query((sql) => soleMerchant(sql, reach, fail))
  if (reach.merchantIds !== null && !reach.merchantIds.includes(merchantId)) {
    fail('forbidden', { message: `The merchant ${merchantId} is not ${caller.kind === 'api_key' ? 'the key\'s' : 'yours'}.` })
  }
  const draft = readDraft(body, context.now, fail)
  const request = idempotencyKey === undefined ? undefined : {
    tenantId: reach.tenantId, ownerId: merchantId, operationId: 'createPaymentIntent', key: idempotencyKey, fingerprint: context.fingerprint(),
  }
  const started = await start(context, merchantId, draft, request)
  if (started.state === 'created') return context.reply(201, started.view)
  if (started.state === 'calling') {
    const outcome = await finishCreation(started.operation, true, app.creation, timeLeftSince(context.now, context.runtime))
    if (outcome !== 'unknown' || !request) return answer(outcome, false, fail)
    // Another holder may have taken over a slow one and answered.
    const finished = await db.query((sql) => app.replies.find(sql, request))
    return answer(finished?.reply ?? 'unknown', false, fail)
  }
  const { earlier } = started
  if (earlier.fingerprint.compare(context.fingerprint()) !== 0) fail('idempotency_key_reused')
  if (earlier.reply) return answer(earlier.reply, true, fail)
  if (request && earlier.status === null && earlier.providerOperationId !== null) {
    return answer(await awaitCreation(request, earlier.providerOperationId, app.creation, context.now), true, fail)
  }
  return answer(await presentState(context, merchantId, earlier), true, fail)
}

/** The first transaction. What it refuses is forgotten, key and all (decision 3.10). */
async function start(
  context: Context, merchantId: string, draft: PaymentIntentDraft, request: IdempotentRequestScope | undefined, tries = 1,
): Promise<Started> {
  const { app, db, reach } = context
  const begun: Begun = {}
  try {
    return await db.tx((sql) => startTx(sql, context, merchantId, draft, request, begun))
  } catch (error) {
    if (error instanceof ShortcodeTaken) {
      if (tries < shortcodeTries) return start(context, merchantId, draft, request, tries + 1)
      throw new Error(`${shortcodeTries} shortcodes in a row were taken: the random source repeats itself`, { cause: error })
    }
    // Whether the commit arrived is not known; nobody is at work on it in either case.
    if (begun.operation && isDatabaseUnavailable(error)) void giveBack(begun.operation, app.creation)
    if (constraintOf(error) !== 'payment_intents_reference_key' || draft.reference_id === null) throw error
    const { reference_id } = draft
    const holder = await db.query((sql) => findIntentByReference(sql, reach.tenantId, merchantId, reference_id))
    return context.fail('duplicate_reference', holder?.visible ? { members: { intent_id: holder.id } } : {})
  }
}

async function startTx(
  sql: Sql, context: Context, merchantId: string, draft: PaymentIntentDraft, request: IdempotentRequestScope | undefined, begun: Begun,
): Promise<Started> {
  const { app, caller, fail, now, reach, runtime } = context
  const { tenantId } = reach
  const intentId = newId(runtime)
  const provider = providerFor(draft, app.creation)
  const operationId = provider ? newId(runtime) : null
  const [earlier, keyIsLive, merchant, customerIsKnown] = await Promise.all([
    request ? app.replies.claim(sql, request, now, { providerOperationId: operationId, resourceId: intentId }) : null,
    caller.kind === 'api_key' ? isApiKeyLive(sql, tenantId, merchantId, caller.id, now) : true,
    findMerchant(sql, tenantId, merchantId),
    draft.customer_id === null ? true : hasCustomer(sql, tenantId, merchantId, draft.customer_id),
  ])
  if (!keyIsLive) fail('unauthenticated')
  if (earlier) return { state: 'earlier', earlier }
  if (!merchant) return fail('forbidden', { message: `The merchant ${merchantId} is not yours.` })
  assertMerchant(merchant, draft, app.configuration.BAYAR_ENV, fail)
  if (!customerIsKnown) fail('validation_failed', { fields: { customer_id: 'is no customer of the merchant' } })
  assertChannels(draft, merchant.channels, chargingProvider(app.creation), fail)
  if (provider === null) {
    fail('channel_unavailable', { message: `No provider serves ${String(draft.attemptChannel)}.` })
  }
  const attemptId = draft.attemptChannel ? newId(runtime) : null
  const intent = {
    ...draft.intent, id: intentId, tenant_id: tenantId, merchant_id: merchantId, shortcode: newShortcode(runtime), visible: operationId === null,
    current_attempt_id: attemptId, created_at: now,
  }
  const row: PaymentIntentRow = {
    ...intent, status: 'open', uses: 0, paid_idr: 0, refunded_idr: 0, overpaid_idr: 0, late: false, paid_at: null,
  }
  // Sent together, in this order: each wait for the server is a part of what a creation takes.
  const inserted = insertPaymentIntent(sql, intent)
  const beside: Promise<void>[] = []
  if (draft.attemptChannel && attemptId) {
    const { attemptChannel: channel } = draft
    beside.push(insertPaymentAttempt(sql, newAttempt(row, { attemptId, operationId, provider: provider ?? null, channel, now }, app.creation)))
  }
  if (operationId && attemptId && provider && draft.attemptChannel) {
    const planned = { operationId, attemptId, provider, channel: draft.attemptChannel, now }
    const operation = startedOperation('create_charge', row, merchant, planned, { requestId: context.requestId, idempotency: request }, app.creation)
    begun.operation = operation
    beside.push(insertProviderOperation(sql, { ...operation, api_key_id: caller.kind === 'api_key' ? caller.id : null }))
    await inTurn(inserted, beside)
    return { state: 'calling', operation }
  }
  const view = paymentIntentView(row, {}, app.views, now)
  beside.push(writeIntentViewEvent(sql, 'payment_intent.created', row, view, app.creation, now))
  if (request) beside.push(app.replies.store(sql, request, { status: 201, body: view }, now, intentId))
  await inTurn(inserted, beside)
  return { state: 'created', view }
}

/** Waits for all; what failed the intent's own statement failed the others behind it. */
async function inTurn(inserted: Promise<boolean>, beside: readonly Promise<void>[]): Promise<void> {
  const [intent, ...others] = await Promise.allSettled([inserted, ...beside])
  if (intent.status === 'rejected') throw intent.reason
  if (!intent.value) throw new ShortcodeTaken()
  for (const other of others) if (other.status === 'rejected') throw other.reason
}

/** The provider that is asked for a channel's charge: undefined when none need be, null when there is none. */
function providerFor({ attemptChannel: channel, intent }: PaymentIntentDraft, creation: Context['app']['creation']): string | null | undefined {
  if (!channel || !channelOf(channel).needs_provider) return undefined
  return isServed(channel, intent.max_uses, chargingProvider(creation)) ? creation.provider : null
}

function assertMerchant(
  merchant: MerchantRow, draft: PaymentIntentDraft, environment: string, fail: Fail<'merchant_not_approved' | 'validation_failed'>,
): void {
  if (environment === 'production' && merchant.status !== 'approved') fail('merchant_not_approved')
  const scheme = draft.intent.return_url?.split(':')[0]?.toLowerCase()
  if (scheme !== undefined && scheme !== 'https' && !merchant.app_schemes.includes(scheme)) {
    fail('validation_failed', { fields: { return_url: 'must be https, or an app scheme registered for the merchant' } })
  }
}

/** An answer older than 30 days is no longer stored: the intent as it now is (decision 3.10). */
async function presentState({ app, db, now, reach }: Context, merchantId: string, { resourceId }: EarlierRequest): Promise<CreationOutcome> {
  const row = resourceId === null ? undefined : await db.query((sql) => findPaymentIntent(sql, { ...reach, merchantIds: [merchantId] }, resourceId))
  return row ? { status: 201, body: paymentIntentView(row, row.attempt_fields, app.views, now) } : 'unknown'
}

function answer(outcome: CreationOutcome, replayed: boolean, fail: Fail<'unavailable'>): StoredReply {
  if (outcome === 'unknown') {
    return fail('unavailable', {
      message: 'The payment provider has not answered. Repeat the request with the same Idempotency-Key.', headers: { 'Retry-After': '2' },
    })
  }
  return { ...outcome, replayed, ...(replayed && { headers: { 'Idempotency-Replayed': 'true' } }) }
}
