import { deliveryLeaseSeconds } from '../../../db/payments/webhookDeliveries.ts'
import { nextAttempts, retryPolicy } from '../../../domain/webhookRetry.ts'
import type { Handler } from '../handler.ts'

const attemptsTold = 10
const latestYear = 9998

export const getWebhookRetryPolicy: Handler<'getWebhookRetryPolicy'> = ({ fail, now, query, reply }) => {
  const from = query.from === undefined ? now : new Date(query.from)
  if (from.getUTCFullYear() > latestYear) fail('validation_failed', { fields: { from: `must not be after the year ${latestYear}` } })
  const { delayBase, delayCapSeconds, jitter, failuresToDisable, attemptsPerRound, timeoutSeconds, retryAfter } = retryPolicy
  return Promise.resolve(reply(200, {
    delay_base: delayBase,
    delay_cap_seconds: delayCapSeconds,
    jitter_min: jitter.min,
    jitter_max: jitter.max,
    failures_to_disable: failuresToDisable,
    attempts_per_round: attemptsPerRound,
    timeout_seconds: timeoutSeconds,
    retry_after_statuses: [...retryAfter.statuses],
    retry_after_cap_seconds: retryAfter.capSeconds,
    lease_seconds: deliveryLeaseSeconds,
    next_attempts: nextAttempts(from, attemptsTold).map(({ failures, earliest, base, latest }) => ({
      failures,
      earliest_delay_seconds: earliest.delaySeconds,
      base_delay_seconds: base.delaySeconds,
      latest_delay_seconds: latest.delaySeconds,
      earliest_at: earliest.at.toISOString(),
      base_at: base.at.toISOString(),
      latest_at: latest.at.toISOString(),
    })),
  }))
}
