import {
  abandonLapsedChoice, expireOtherAttempts, findStandingAttempt, findUnfinishedChoice, setCurrentAttempt,
} from '../db/payments/channelChoices.ts'
import type { UnfinishedChoice } from '../db/payments/channelChoices.ts'
import { withdrawAttempt, withdrawPendingAttempts } from '../db/payments/chargeWithdrawals.ts'
import { findMerchant } from '../db/payments/merchants.ts'
import type { MerchantRow } from '../db/payments/merchants.ts'
import { endPaymentAttempt, fillPaymentAttempt, findPaymentAttempt, insertPaymentAttempt } from '../db/payments/paymentAttempts.ts'
import type { PaymentAttemptRow } from '../db/payments/paymentAttempts.ts'
import { lockPaymentIntent } from '../db/payments/paymentIntents.ts'
import type { IntentStatus, PaymentIntentRow } from '../db/payments/paymentIntents.ts'
import { finishProviderOperation, insertProviderOperation, takeOverProviderOperation } from '../db/payments/providerOperations.ts'
import type { ProviderOperationRow } from '../db/payments/providerOperations.ts'
import { newId } from '../db/ids.ts'
import { isDatabaseUnavailable } from '../db/sql.ts'
import type { Sql } from '../db/sql.ts'
import { channelOf, isChannelCode } from '../domain/channels.ts'
import type { ChannelCode } from '../domain/channels.ts'
import { isPastDeadline } from '../domain/paymentIntentView.ts'
import { isUnsettled } from '../providers/paymentProvider.ts'
import type { Charge, CreateChargeResult, Decline } from '../providers/paymentProvider.ts'
import { amountsTaken, isServed } from '../providers/servedChannels.ts'
import { applyPayments } from './applyCharge.ts'
import type { CreationSettings } from './chargeCreation.ts'
import { newAttempt, startedOperation } from './chargeRequest.ts'
import { enqueueWithdrawals } from './endAttempts.ts'
import { giveBack } from './giveBack.ts'
import { askForCharge, chargingProvider, isFinished, lockIntentOf, providerOf, readAttemptOf, releaseOperation, timeLeftSince } from './providerCharges.ts'
import type { TimeLeft } from './providerCharges.ts'

/** What a payer chooses. */
export interface ChosenChannel {
  tenantId: string
  merchantId: string
  intentId: string
  channel: string
  requestId: string
}

/** The intent is past its deadline, or ended. */
interface NotOpen { outcome: 'not_open', status: IntentStatus }
interface NotAllowed { outcome: 'not_allowed', code: 'channel_unavailable' | 'amount_out_of_range', message: string }
/** The attempt of the chosen channel; `made` by this choice, or live before. */
interface Chosen { outcome: 'chosen', attempt: PaymentAttemptRow, intent: PaymentIntentRow, made: boolean }

/** What became of a choice. `unknown`: the provider has not answered; the same choice again asks on. */
export type ChannelChoice = Chosen | NotOpen | NotAllowed | { outcome: 'declined', decline: Decline } | { outcome: 'unknown' }

type Started = Chosen | NotOpen | NotAllowed | { outcome: 'calling', operation: ProviderOperationRow } | { outcome: 'busy', choice: UnfinishedChoice }

const lookEveryMs = 100
const looksAtMost = 90
/** Looks take time of their own; what a payer waits is bounded all the same, and leaves time for a takeover. */
const lookForMs = lookEveryMs * looksAtMost
/** A first call that nobody waits for has ended by then (decision 3.3: it lasts 8 s at most). */
const abandonedCallSeconds = 30

/**
 * Makes the attempt of the channel that a payer chooses (decisions 3.2 to 3.4), in two steps around the provider, one
 * unfinished for each intent: a twin waits for it outside transactions and slots, or takes it over once its lease has
 * lapsed. The live attempt's channel answers that attempt. On a single-use intent the older pending attempt is
 * withdrawn at the provider once the new one exists. A refusal fails the attempt and leaves the intent open.
 */
export async function chooseChannel(settings: CreationSettings, chosen: ChosenChannel): Promise<ChannelChoice> {
  const { database, runtime } = settings
  const since = runtime.now()
  const until = since.getTime() + lookForMs
  const timeLeft = timeLeftSince(since, runtime)
  for (let look = 0; look < looksAtMost && runtime.now().getTime() < until; look += 1) {
    const started = await startOnce(settings, chosen)
    if (started.outcome === 'calling') return finish(started.operation, true, settings, timeLeft)
    if (started.outcome !== 'busy') return started
    const { tenant_id, merchant_id, id } = started.choice
    const taken = started.choice.lapsed && started.choice.channel === chosen.channel
      ? await database.query((sql) => takeOverProviderOperation(sql, tenant_id, merchant_id, id, newId(runtime))) : undefined
    if (taken) {
      const outcome = await finish(taken, false, settings, timeLeft)
      // The provider is silent still, and this try has used the time a payer waits.
      if (outcome.outcome !== 'unknown' || !(await isFinished(taken, database))) return outcome
    } else {
      await runtime.sleep(lookEveryMs)
    }
  }
  return { outcome: 'unknown' }
}

/**
 * What the sweep does with a choice that nobody holds: gives it up. The payer has not seen it, and may be paying by
 * another attempt, which a late answer must not replace.
 */
export async function resumeChoice(tenantId: string, merchantId: string, operationId: string, { database, runtime }: CreationSettings): Promise<void> {
  const operation = await database.query((sql) => takeOverProviderOperation(sql, tenantId, merchantId, operationId, newId(runtime)))
  if (!operation) return
  const now = runtime.now()
  await database.tx(async (sql) => {
    await lockIntentOf(sql, operation)
    if (await finishProviderOperation(sql, operation, 'abandoned', now)) await giveUp(sql, operation)
  })
}

/** The first transaction. A lost connection may have committed it. */
async function startOnce(settings: CreationSettings, chosen: ChosenChannel): Promise<Started> {
  let started: Started | undefined
  try {
    return await settings.database.tx(async (sql) => started = await start(sql, settings, chosen))
  } catch (error) {
    if (started?.outcome === 'calling' && isDatabaseUnavailable(error)) void giveBack(started.operation, settings)
    throw error
  }
}

async function start(sql: Sql, settings: CreationSettings, { tenantId, merchantId, intentId, channel, requestId }: ChosenChannel): Promise<Started> {
  const now = settings.runtime.now()
  const intent = await lockPaymentIntent(sql, tenantId, merchantId, intentId)
  if (!intent?.visible) throw new Error(`payment intent ${intentId} is not there`)
  if (isPastDeadline(intent, now)) return { outcome: 'not_open', status: 'expired' }
  if (intent.status !== 'open') return { outcome: 'not_open', status: intent.status }
  const merchant = await findMerchant(sql, tenantId, merchantId)
  if (!merchant) throw new Error(`merchant ${merchantId} is not there`)
  const refusal = refusalOf(channel, intent, merchant, settings)
  if (refusal) return refusal
  const code = channel as ChannelCode
  const live = await liveAttempt(sql, intent, code, now)
  if (live) return { outcome: 'chosen', attempt: live, intent, made: false }
  const choice = await findUnfinishedChoice(sql, tenantId, merchantId, intentId)
  if (choice && !(await makesWay(sql, choice, channel, now))) return { outcome: 'busy', choice }
  return begin(sql, settings, intent, merchant, code, requestId, now)
}

/** A lapsed choice of another channel makes way for this one; its charge, should there be one, is withdrawn. */
async function makesWay(sql: Sql, choice: UnfinishedChoice, channel: string, now: Date): Promise<boolean> {
  if (!choice.lapsed || choice.channel === channel || !(await abandonLapsedChoice(sql, choice, now))) return false
  await giveUp(sql, choice)
  return true
}

async function giveUp(sql: Sql, { tenant_id, merchant_id, attempt_id }: ProviderOperationRow): Promise<void> {
  await endPaymentAttempt(sql, tenant_id, merchant_id, attempt_id, 'expired', null)
  await withdrawAttempt(sql, tenant_id, merchant_id, attempt_id, abandonedCallSeconds)
}

async function begin(
  sql: Sql, settings: CreationSettings, intent: PaymentIntentRow, merchant: MerchantRow, channel: ChannelCode, requestId: string, now: Date,
): Promise<Started> {
  const attemptId = newId(settings.runtime)
  const provider = channelOf(channel).needs_provider ? settings.provider : null
  const operationId = provider === null ? null : newId(settings.runtime)
  await insertPaymentAttempt(sql, newAttempt(intent, { attemptId, operationId, provider, channel, now }, settings))
  if (provider === null || operationId === null) {
    const attempt = await findPaymentAttempt(sql, intent.tenant_id, intent.merchant_id, attemptId)
    if (!attempt) throw new Error(`payment attempt ${attemptId} is not there`)
    await replaceOlder(sql, intent, attempt, settings)
    return { outcome: 'chosen', attempt, intent: { ...intent, current_attempt_id: attemptId }, made: true }
  }
  const operation = startedOperation('choose_channel', intent, merchant, { operationId, attemptId, provider, channel, now }, { requestId }, settings)
  await insertProviderOperation(sql, operation)
  return { outcome: 'calling', operation }
}

function refusalOf(channel: string, intent: PaymentIntentRow, merchant: MerchantRow, settings: CreationSettings): NotAllowed | null {
  const provider = chargingProvider(settings)
  const unavailable = (message: string): NotAllowed => ({ outcome: 'not_allowed', code: 'channel_unavailable', message })
  if (!isChannelCode(channel) || !intent.allowed_channels.includes(channel)) return unavailable(`This payment does not take ${channel}.`)
  if (!merchant.channels.includes(channel)) return unavailable(`Not available for this merchant: ${channel}.`)
  if (!isServed(channel, intent.max_uses, provider)) return unavailable(`No provider serves ${channel}.`)
  const { min, max } = amountsTaken(channel, provider)
  if (intent.amount_idr >= min && intent.amount_idr <= max) return null
  return { outcome: 'not_allowed', code: 'amount_out_of_range', message: `The amount is out of range: ${channel} takes ${min} to ${max}.` }
}

/** The attempt that a choice of the channel answers: the live one, or the standing one of an intent for several payments. */
async function liveAttempt(
  sql: Sql, { tenant_id, merchant_id, id, max_uses, current_attempt_id }: PaymentIntentRow, channel: ChannelCode, now: Date,
): Promise<PaymentAttemptRow | undefined> {
  if (max_uses !== 1) return channelOf(channel).standing_attempt ? findStandingAttempt(sql, tenant_id, merchant_id, id, channel, now) : undefined
  const current = current_attempt_id === null ? undefined : await findPaymentAttempt(sql, tenant_id, merchant_id, current_attempt_id)
  const isLive = current?.status === 'pending' && (current.expires_at === null || current.expires_at > now)
  return isLive && current.channel === channel ? current : undefined
}

/** After the first transaction: the provider's answer, then the second one, which only the holder of the lease can commit. */
async function finish(operation: ProviderOperationRow, fresh: boolean, settings: CreationSettings, timeLeft: TimeLeft): Promise<ChannelChoice> {
  const answer = await askForCharge(providerOf(settings.providers, operation), operation, fresh, timeLeft)
  try {
    return await settle(operation, answer, settings)
  } catch (error) {
    if (isDatabaseUnavailable(error)) void giveBack(operation, settings)
    throw error
  }
}

async function settle(operation: ProviderOperationRow, answer: CreateChargeResult, settings: CreationSettings): Promise<ChannelChoice> {
  const { database, runtime } = settings
  if (isUnsettled(answer)) {
    await releaseOperation(operation, database, answer)
    return { outcome: 'unknown' }
  }
  const now = runtime.now()
  return database.tx(async (sql): Promise<ChannelChoice> => {
    // The intent first, as everywhere: two transactions never hold these rows crosswise.
    const intent = await lockIntentOf(sql, operation)
    const declined = answer.outcome === 'declined'
    if (!(await finishProviderOperation(sql, operation, declined ? 'refused' : 'answered', now))) return { outcome: 'unknown' }
    if (!declined) return take(sql, intent, operation, answer.charge, settings, now)
    await endPaymentAttempt(sql, operation.tenant_id, operation.merchant_id, operation.attempt_id, 'failed', answer.decline.code)
    return answer
  })
}

/** The provider made the charge: it is the current attempt, unless the intent has ended meanwhile; then nobody may pay it. */
async function take(
  sql: Sql, intent: PaymentIntentRow, operation: ProviderOperationRow, charge: Charge, settings: CreationSettings, now: Date,
): Promise<ChannelChoice> {
  const { tenant_id, merchant_id, attempt_id } = operation
  const filled = await fillPaymentAttempt(sql, tenant_id, merchant_id, attempt_id, charge.reference, { ...charge.fields })
  const isPast = isPastDeadline(intent, now)
  const isOpen = intent.status === 'open' && !isPast
  // A proof of payment may have come before this answer: then it is this attempt that the payer must see.
  const isPaid = filled?.status === 'succeeded' || charge.payments.some(({ reversed }) => !reversed)
  if (isOpen && filled?.status === 'pending') await replaceOlder(sql, intent, filled, settings)
  else if (isPaid) await setCurrentAttempt(sql, tenant_id, merchant_id, intent.id, attempt_id)
  else if (!isOpen) {
    await endPaymentAttempt(sql, tenant_id, merchant_id, attempt_id, 'expired', null)
    await withdrawAttempt(sql, tenant_id, merchant_id, attempt_id, 0)
  }
  await applyPayments(sql, operation, charge, settings, now)
  if (!isOpen && !isPaid) return { outcome: 'not_open', status: isPast ? 'expired' : intent.status }
  return { outcome: 'chosen', attempt: await readAttemptOf(sql, operation), intent: await lockIntentOf(sql, operation), made: true }
}

/** Makes an attempt the current one; on a single-use intent the older pending ones end, and their charges at the provider. */
async function replaceOlder(sql: Sql, intent: PaymentIntentRow, attempt: PaymentAttemptRow, { boss }: CreationSettings): Promise<void> {
  const { tenant_id, merchant_id, id, max_uses } = intent
  await setCurrentAttempt(sql, tenant_id, merchant_id, id, attempt.id)
  if (max_uses !== 1) return
  await withdrawPendingAttempts(sql, tenant_id, merchant_id, id, attempt.id)
  await expireOtherAttempts(sql, tenant_id, merchant_id, id, attempt.id)
  await enqueueWithdrawals(sql, intent, boss)
}
