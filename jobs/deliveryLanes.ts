import type { DeliveryLane } from '../db/payments/webhookClaims.ts'
import { turnsUnder } from './deliveryTurns.ts'
import type { LaneLimits, Turns } from './deliveryTurns.ts'

type Lane = NonNullable<ReturnType<Turns['next']>>

/** What a claim found. */
export interface LaneClaim<Delivery> {
  /** Fewer of a lane than were asked for are all there was. */
  claimed: readonly Delivery[]
  /** Subscriptions that could be looked at; the others are to be tried again. */
  seen: { has(subscriptionId: string): boolean }
}

export interface LaneOptions<Delivery> {
  limits: LaneLimits
  /** Claims what is due of each lane, at most `most`. Must not reject: where it fails, nothing was seen. */
  claim(lanes: readonly (DeliveryLane & { most: number })[]): Promise<LaneClaim<Delivery>>
  /** Makes a delivery. Answers how many milliseconds the receiver took. Must not reject. */
  deliver(delivery: Delivery): Promise<number>
  /** Waits before lanes that could not be looked at are tried again. */
  pause(): Promise<void>
}

export interface DeliveryLanes {
  /** Something of this subscription may be due. */
  wake(lane: DeliveryLane): void
  /** Claims nothing more, and resolves when nothing is at work. */
  stop(): Promise<void>
}

/**
 * Claims and makes deliveries, those that are due of the subscriptions that were woken. Places go to tenants in turn, and
 * within a tenant to its subscriptions in turn, and neither slow receivers nor floods may have all of them, so that these hold
 * up nobody else (decision 6.10). What waits lies in the rows, not here: a backlog costs nothing until it is its turn.
 */
export function deliveryLanes<Delivery extends DeliveryLane>({ limits, claim, deliver, pause }: LaneOptions<Delivery>): DeliveryLanes {
  const turns = turnsUnder(limits)
  const atWork = new Set<Promise<void>>()
  let serving: Promise<void> | undefined
  let stopped = false

  /** The places of one claim: how many each lane gets. */
  const takePlaces = (): Map<Lane, number> => {
    const places = new Map<Lane, number>()
    for (let free = limits.claimed; free > 0; free -= 1) {
      const lane = turns.next()
      if (!lane) break
      places.set(lane, (places.get(lane) ?? 0) + 1)
    }
    return places
  }

  const begin = (lane: Lane, delivery: Delivery): void => {
    const work = deliver(delivery).then((tookMs) => turns.took(lane, tookMs)).finally(() => {
      atWork.delete(work)
      turns.end(lane)
      serve()
    })
    atWork.add(work)
  }

  /** One claim. False when there was nothing but what could not be looked at. */
  const serveOnce = async (places: ReadonlyMap<Lane, number>): Promise<boolean> => {
    const lanes = [...places].map(([{ tenant_id, merchant_id, subscription_id }, most]) => ({ tenant_id, merchant_id, subscription_id, most }))
    const { claimed, seen } = await claim(lanes)
    const found = Map.groupBy(claimed, ({ subscription_id }) => subscription_id)
    for (const [lane, most] of places) {
      const deliveries = found.get(lane.subscription_id) ?? []
      for (const delivery of deliveries) begin(lane, delivery)
      for (let left = deliveries.length; left < most; left += 1) turns.end(lane)
      if (deliveries.length < most && seen.has(lane.subscription_id)) turns.rest(lane)
    }
    return claimed.length > 0 || lanes.every(({ subscription_id }) => seen.has(subscription_id))
  }

  const serve = (): void => {
    if (serving || stopped) return
    const places = takePlaces()
    if (places.size === 0) return
    serving = serveOnce(places).then((found) => found || stopped ? undefined : pause()).then(() => {
      serving = undefined
      serve()
    })
  }

  return {
    wake(lane) {
      turns.wake(lane)
      serve()
    },
    async stop() {
      stopped = true
      await serving
      await Promise.all(atWork)
    },
  }
}
