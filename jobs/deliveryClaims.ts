import { newId } from '../db/ids.ts'
import { claimDueDeliveries } from '../db/payments/webhookClaims.ts'
import type { ClaimedDelivery, DeliveryLane } from '../db/payments/webhookClaims.ts'
import { settleInactiveDeliveries } from '../db/payments/webhookSweeps.ts'
import { isDatabaseUnavailable } from '../db/sql.ts'
import type { LaneOptions } from './deliveryLanes.ts'
import type { DeliverySettings } from './deliverySettings.ts'

interface ClaimSettings extends Pick<DeliverySettings, 'database' | 'runtime'> {
  report(error: unknown, about: { delivery?: string }): void
}

const awayMs = 500
const settledAtATime = 1000

/** Claims for the lanes. What is due of an inactive subscription is made to wait, or ended with a deleted one (decision 6.5). */
export function deliveryClaimer({ database, report, runtime }: ClaimSettings): LaneOptions<ClaimedDelivery>['claim'] {
  const settle = (lane: DeliveryLane): Promise<unknown> => database.query((sql) => settleInactiveDeliveries(sql, lane, settledAtATime))
    .catch((error: unknown) => report(error, {}))
  return async (lanes) => {
    try {
      const attemptIds = lanes.flatMap(({ most }) => Array.from({ length: most }, () => newId(runtime)))
      const { active, claimed } = await database.query((sql) => claimDueDeliveries(sql, lanes, attemptIds))
      for (const lane of lanes) if (active.get(lane.subscription_id) === false) await settle(lane)
      return { claimed, seen: active }
    } catch (error) {
      report(error, {})
      if (isDatabaseUnavailable(error)) await runtime.sleep(awayMs)
      return { claimed: [], seen: new Set<string>() }
    }
  }
}
