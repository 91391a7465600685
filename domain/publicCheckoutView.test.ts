import { describe, expect, test } from 'vitest'
import { publicCheckoutStatusView } from './publicCheckoutView.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 10, 2, 3, minute))
const intent = {
  id: 'i', shortcode: 's', status: 'open', late: false, amount_idr: 1, max_uses: 1, description: null, allowed_channels: [], return_url: null,
  intent_expires_at: at(30), changed_at: at(0), merchant_name: 'm', merchant_channels: [],
}
const attempt = { id: 'a', status: 'pending', expires_at: at(20), changed_at: at(5) }

describe('updated_at', () => {
  test.each([
    ['of the payment before a choice', null, at(1), at(0), 'open', null],
    ['of the attempt once there is one', attempt, at(6), at(5), 'open', 'pending'],
    ['the attempt\'s deadline once it is past', attempt, at(21), at(20), 'open', 'expired'],
    ['the payment\'s deadline once that is past', attempt, at(31), at(30), 'expired', 'expired'],
    ['unmoved by the deadline of an attempt that has ended', { ...attempt, status: 'failed' }, at(21), at(5), 'open', 'failed'],
  ])('%s', (_, shown, now, updated, status, attempt_status) => {
    expect(publicCheckoutStatusView(intent, shown, now)).toEqual({
      status, late: false, attempt_id: shown?.id ?? null, attempt_status, updated_at: updated.toISOString(),
    })
  })
})
