import { findPublicCheckout } from '../../../db/payments/publicCheckouts.ts'
import type { PublicCheckoutRow } from '../../../db/payments/publicCheckouts.ts'
import { shortcodePattern } from '../../../db/ids.ts'
import type { Sql } from '../../../db/sql.ts'
import type { Fail } from '../../http/handler.ts'

/** A payment with the attempt that its payer is shown, its members named as in the attempt's own row. */
export interface ShownCheckout {
  row: PublicCheckoutRow
  attempt: {
    id: string
    channel: string
    status: string
    amount_idr: number
    fields: Record<string, string>
    expires_at: Date | null
    changed_at: Date
  } | null
}

/** The payment behind a shortcode; unknown, hidden, malformed and point-of-sale alike are 404. */
export async function findShownCheckout(
  sql: Sql, shortcode: string, attemptId: string | undefined, fail: Fail<'not_found'>,
): Promise<ShownCheckout> {
  const row = shortcodePattern.test(shortcode) ? await findPublicCheckout(sql, shortcode, attemptId ?? null) : undefined
  if (!row) return fail('not_found')
  if (row.attempt_id === null) return { row, attempt: null }
  return {
    row,
    attempt: {
      id: row.attempt_id, channel: row.attempt_channel, status: row.attempt_status, amount_idr: row.attempt_amount_idr,
      fields: row.attempt_fields, expires_at: row.attempt_expires_at, changed_at: row.attempt_changed_at,
    },
  }
}
