import { isApiKeyLive } from '../../../db/payments/apiKeys.ts'
import { findPaymentIntent, lockPaymentIntent } from '../../../db/payments/paymentIntents.ts'
import type { AttemptFields, PaymentIntentRow } from '../../../db/payments/paymentIntents.ts'
import type { Sql } from '../../../db/sql.ts'
import { isPastDeadline } from '../../../domain/paymentIntentView.ts'
import type { Caller, Reach } from '../../http/caller.ts'
import type { Fail } from '../../http/handler.ts'

/** Who moves an intent. */
export interface Mover {
  caller: Caller
  reach: Reach
  now: Date
  fail: Fail<'not_found' | 'invalid_state' | 'unauthenticated'>
}

/** Refuses whatever is not open, naming the state that a read would tell (decision 3.7). */
export function assertOpen(intent: PaymentIntentRow, now: Date, fail: Fail<'invalid_state'>): void {
  const status = isPastDeadline(intent, now) ? 'expired' : intent.status
  if (status !== 'open') fail('invalid_state', { message: `The payment intent is ${status}.` })
}

/** An open intent within reach, as it now is. Looks at the key again, which may be revoked since (decision 5.3). */
export async function findOpenIntent(sql: Sql, { caller, reach, now, fail }: Mover, id: string): Promise<PaymentIntentRow & AttemptFields> {
  const intent = await findPaymentIntent(sql, reach, id) ?? fail('not_found')
  const keyIsLive = caller.kind !== 'api_key' || await isApiKeyLive(sql, intent.tenant_id, intent.merchant_id, caller.id, now)
  if (!keyIsLive) fail('unauthenticated')
  assertOpen(intent, now, fail)
  return intent
}

/** As `findOpenIntent`, locked for the change; the fields are those of the attempt that is current before it. */
export async function lockOpenIntent(sql: Sql, mover: Mover, id: string): Promise<PaymentIntentRow & AttemptFields> {
  const found = await findOpenIntent(sql, mover, id)
  const locked = await lockPaymentIntent(sql, found.tenant_id, found.merchant_id, id) ?? mover.fail('not_found')
  assertOpen(locked, mover.now, mover.fail)
  return { ...found, ...locked }
}
