import { findPaymentAttempt } from '../db/payments/paymentAttempts.ts'
import { giveBackCallbacks, lockHeldCallback, postponeCallback, settleCallback } from '../db/payments/providerCallbacks.ts'
import type { HeldCallback } from '../db/payments/providerCallbacks.ts'
import { findProviderOperationByKey } from '../db/payments/providerOperations.ts'
import type { ProviderOperationRow } from '../db/payments/providerOperations.ts'
import { idPattern } from '../db/ids.ts'
import { isDatabaseUnavailable } from '../db/sql.ts'
import type { Database, Sql } from '../db/sql.ts'
import type { Runtime } from '../domain/runtime.ts'
import type { Charge, ChargeCallback, PaymentProvider } from '../providers/paymentProvider.ts'
import { applyCallback, paymentOf, tellsOfMoney } from './applyCallback.ts'
import type { CallbackVerdict } from './applyCallback.ts'
import { openCase } from './openCase.ts'
import type { EventSettings } from './paymentEvents.ts'
import { chargeOf, providerOf } from './providerCharges.ts'

export interface CallbackSettings extends EventSettings {
  database: Database
  providers: ReadonlyMap<string, PaymentProvider>
  runtime: Pick<Runtime, 'now' | 'randomBytes' | 'sleep'>
}

/** What is told of a callback that was processed. */
export interface CallbackNotice {
  id: string
  provider: string
  outcome: CallbackVerdict['outcome']
  detail: string | null
  /** Whether it is tried again. */
  waits: boolean
}

export interface CallbackObserver {
  processed(notice: CallbackNotice): void
  failed(error: unknown, about: { provider?: string, callbackId?: string }): void
}

/** How long a callback is left to whoever took it. Longer than a question to the provider lasts. */
export const callbackLeaseSeconds = 10

/** Waits before a callback that was not confirmed, or matched nothing, is processed anew, in seconds. */
const retrySeconds = [30, 120, 600, 3600, 21_600, 86_400] as const

/** The same where our own database was away or busy: that says nothing of the callback, and is no try of it. */
const awaySeconds = 2

type Found =
  | { charge: Charge, callback: ChargeCallback, operation: ProviderOperationRow }
  | { charge: null, callback: ChargeCallback | null, operation: ProviderOperationRow | null, verdict: CallbackVerdict }

/**
 * Processes a stored callback (decision 3.7): asks the provider, holding nothing, what has become of the charge, then
 * applies in one transaction what both say, which only the holder of the callback can commit. What is not confirmed or
 * matches nothing is tried again for a day and more; money that never was confirmed ends as a case. Answers false where
 * it came to nothing for now. What fails is left to a later try.
 */
export async function processCallback(held: HeldCallback, settings: CallbackSettings, observer: CallbackObserver): Promise<boolean> {
  const { database, runtime } = settings
  try {
    const found = await lookUp(held, settings)
    const now = runtime.now()
    const notice = await database.tx((sql) => conclude(sql, held, found, settings, now))
    if (notice) observer.processed(notice)
    return notice?.waits !== true
  } catch (error) {
    const now = runtime.now()
    // Where the database is still away the lease lapses by itself.
    await database.query((sql) => isDatabaseUnavailable(error) ? giveBackCallbacks(sql, [held], later(now, awaySeconds))
      : postponeCallback(sql, held, later(now, retrySeconds[held.tries] ?? retrySeconds[5]))).catch(() => undefined)
    throw error
  }
}

/** Everything that must be known before the transaction. */
async function lookUp({ provider: name, body }: HeldCallback, { database, providers }: CallbackSettings): Promise<Found> {
  const provider = providerOf(providers, { provider: name })
  const reading = provider.parseCallback(body)
  const settled = (about: Pick<Found, 'callback' | 'operation'>, outcome: CallbackVerdict['outcome'], detail: string | null): Found =>
    ({ charge: null, ...about, verdict: { outcome, detail } })
  if (reading.outcome !== 'charge') return settled({ callback: null, operation: null }, 'ignored', 'it can no longer be read')
  const { callback } = reading
  const { operation, attempt } = await database.query(async (sql) => {
    const row = idPattern.test(callback.key) ? await findProviderOperationByKey(sql, name, callback.key) : undefined
    return { operation: row, attempt: row && await findPaymentAttempt(sql, row.tenant_id, row.merchant_id, row.attempt_id) }
  })
  if (!operation || !attempt) return settled({ callback, operation: null }, 'unmatched', null)
  if (callback.status === 'pending') return settled({ callback, operation }, 'ignored', 'status pending')
  // Where the creation was never answered, the callback's own reference is the only one there is to ask by.
  const answer = await provider.findCharge(chargeOf(operation, attempt.charge_reference ?? callback.reference))
  if (answer.outcome === 'found') return { charge: answer.charge, callback, operation }
  const detail = answer.outcome === 'absent' ? 'the provider knows no such charge' : `the provider did not say: ${answer.reason}`
  return settled({ callback, operation }, 'unconfirmed', detail)
}

/** The transaction. Null when another has taken the callback over, or settled it. */
async function conclude(sql: Sql, held: HeldCallback, found: Found, settings: CallbackSettings, now: Date): Promise<CallbackNotice | null> {
  if (!(await lockHeldCallback(sql, held))) return null
  const { callback, operation } = found
  const verdict = found.charge ? await applyCallback(sql, found.operation, found.callback, found.charge, settings, now) : found.verdict
  const { outcome, detail } = verdict
  const wait = outcome === 'unconfirmed' || outcome === 'unmatched' ? retrySeconds[held.tries] : undefined
  if (outcome === 'unconfirmed' && wait === undefined && callback && operation) await giveUp(sql, operation, callback, settings, now)
  await settleCallback(sql, held, { outcome, detail, intentId: operation?.intent_id ?? null }, wait === undefined ? null : later(now, wait))
  return { id: held.id, provider: held.provider, outcome, detail, waits: wait !== undefined }
}

/** Money that a provider tells of, and denies when it is asked, is somebody's to look at. */
async function giveUp(sql: Sql, operation: ProviderOperationRow, callback: ChargeCallback, settings: CallbackSettings, now: Date): Promise<void> {
  if (!tellsOfMoney(callback)) return
  const { amountIdr, currency, status } = callback
  const said = `${amountIdr} ${currency} ${status === 'paid' ? 'paid' : 'taken back'}`
  await openCase(sql, {
    kind: 'payment_unconfirmed', operation, reference: paymentOf(callback), expectedIdr: null, receivedIdr: amountIdr, currency,
    detail: `The provider's callback tells of ${said}; asked ${retrySeconds.length + 1} times, it did not confirm it.`,
  }, settings, now)
}

function later(time: Date, seconds: number): Date {
  return new Date(time.getTime() + seconds * 1000)
}
