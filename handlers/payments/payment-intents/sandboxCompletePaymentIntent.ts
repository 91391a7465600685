import { findLiveAttempt } from '../../../db/payments/attemptMoves.ts'
import type { PaymentAttemptRow } from '../../../db/payments/paymentAttempts.ts'
import { findPaymentIntent } from '../../../db/payments/paymentIntents.ts'
import type { PaymentIntentRow } from '../../../db/payments/paymentIntents.ts'
import { channelOf, isChannelCode } from '../../../domain/channels.ts'
import { paymentIntentView } from '../../../domain/paymentIntentView.ts'
import { chooseChannel } from '../../../jobs/channelChoice.ts'
import { confirmCash } from '../../../jobs/confirmCash.ts'
import { moveInSandbox } from '../../../jobs/sandboxMove.ts'
import type { Handler } from '../handler.ts'
import { findOpenIntent, lockOpenIntent } from './openIntent.ts'

type Context = Parameters<Handler<'sandboxCompletePaymentIntent'>>[0]

export const sandboxCompletePaymentIntent: Handler<'sandboxCompletePaymentIntent'> = async (context) => {
  const { app, db, fail, now, params, reach, reply, runtime } = context
  const { intent, live } = await db.query(async (sql) => {
    const found = await findOpenIntent(sql, context, params.id)
    return { intent: found, live: await findLiveAttempt(sql, found, now) }
  })
  const channel = live?.channel ?? firstCompletable(intent)
  if (channel === undefined || !isCompletable(channel)) {
    return fail('invalid_state', { message: 'The payment intent is open at a card challenge: complete it by 3ds-callback.' })
  }
  if (needsProvider(channel)) await pay(context, intent, live ?? await choose(context, intent, channel))
  else {
    await db.tx(async (sql) => {
      const locked = await lockOpenIntent(sql, context, params.id)
      await confirmCash(sql, locked, locked.amount_idr, app.creation, now)
    })
  }
  const row = await db.query((sql) => findPaymentIntent(sql, reach, params.id)) ?? fail('not_found')
  return reply(200, paymentIntentView(row, row.attempt_fields, app.views, runtime.now()))
}

async function pay({ app, fail }: Context, intent: PaymentIntentRow, attempt: PaymentAttemptRow): Promise<void> {
  // Paid before it could be: the provider's report came with its answer.
  if (attempt.status !== 'pending') return
  const outcome = await moveInSandbox(intent, attempt, (sandbox, reference) => sandbox.complete(reference), app.creation)
  if (outcome === 'unknown') fail('unavailable', { message: 'The simulated provider has not reported yet.', headers: { 'Retry-After': '2' } })
}

/** With no attempt, the payer's choice is the first allowed channel that can be completed here (decision 3.13). */
async function choose({ app, fail, requestId }: Context, intent: PaymentIntentRow, channel: string): Promise<PaymentAttemptRow> {
  const { tenant_id: tenantId, merchant_id: merchantId, id: intentId } = intent
  const choice = await chooseChannel(app.creation, { tenantId, merchantId, intentId, channel, requestId })
  switch (choice.outcome) {
    case 'chosen': return choice.attempt
    case 'not_open': return fail('invalid_state', { message: `The payment intent is ${choice.status}.` })
    case 'not_allowed': return fail(choice.code, { message: choice.message })
    case 'declined': return fail('provider_declined', { members: { provider: { code: choice.decline.code, message: choice.decline.message } } })
    case 'unknown': return fail('unavailable', { message: 'The payment provider has not answered.', headers: { 'Retry-After': '2' } })
  }
}

function firstCompletable({ allowed_channels, channel }: PaymentIntentRow): string | undefined {
  return (channel === null ? allowed_channels : [channel]).find(isCompletable)
}

function isCompletable(channel: string): boolean {
  return isChannelCode(channel) && channelOf(channel).sandbox === 'sandbox-complete'
}

function needsProvider(channel: string): boolean {
  return isChannelCode(channel) && channelOf(channel).needs_provider
}
