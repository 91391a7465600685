import { findLiveAttempt } from '../../../db/payments/attemptMoves.ts'
import { hasEvent } from '../../../db/payments/events.ts'
import { findPaymentIntent, lockPaymentIntent } from '../../../db/payments/paymentIntents.ts'
import { paymentIntentView } from '../../../domain/paymentIntentView.ts'
import { expireIntent } from '../../../jobs/expireIntents.ts'
import { moveInSandbox } from '../../../jobs/sandboxMove.ts'
import type { Handler } from '../handler.ts'
import { findOpenIntent } from './openIntent.ts'

export const sandboxExpirePaymentIntent: Handler<'sandboxExpirePaymentIntent'> = async (context) => {
  const { app, db, fail, now, params, reach, reply, runtime } = context
  const { intent, live } = await db.query(async (sql) => {
    const found = await findOpenIntent(sql, context, params.id)
    return { intent: found, live: await findLiveAttempt(sql, found, now) }
  })
  const outcome = live && live.provider !== null
    ? await moveInSandbox(intent, live, (sandbox, reference) => sandbox.expire(reference), app.creation) : 'applied'
  if (outcome === 'unknown') fail('unavailable', { message: 'The simulated provider has not reported yet.', headers: { 'Retry-After': '2' } })
  await db.tx(async (sql) => {
    const locked = await lockPaymentIntent(sql, intent.tenant_id, intent.merchant_id, intent.id)
    if (!locked || locked.status === 'expired') return
    if (locked.status === 'open') {
      // The provider speaks for its charge only: with other channels left, it is the intent's own time that runs out here.
      if (outcome === 'applied') await expireIntent(sql, locked, app.creation, now)
      return
    }
    // Another end came first. What is paid late may have expired before, or have been cancelled.
    if (!locked.late || !(await hasEvent(sql, locked, 'payment_intent.expired'))) fail('invalid_state', { message: `The payment intent is ${locked.status}.` })
  })
  const row = await db.query((sql) => findPaymentIntent(sql, reach, params.id)) ?? fail('not_found')
  return reply(200, paymentIntentView(row, row.attempt_fields, app.views, runtime.now()))
}
