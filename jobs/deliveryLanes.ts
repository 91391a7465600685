import type { DeliveryLane } from '../db/payments/webhookClaims.ts'

export interface LaneLimits {
  /** Deliveries at work in this process. */
  running: number
  runningPerTenant: number
  /** Deliveries at work for one subscription. */
  runningPerLane: number
  /** Deliveries claimed in one go. */
  claimed: number
}

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
  /** Makes a delivery. Must not reject. */
  deliver(delivery: Delivery): Promise<void>
  /** Waits before lanes that could not be looked at are tried again. */
  pause(): Promise<void>
}

export interface DeliveryLanes {
  /** Something of this subscription may be due. */
  wake(lane: DeliveryLane): void
  /** Claims nothing more, and resolves when nothing is at work. */
  stop(): Promise<void>
}

interface Lane extends DeliveryLane {
  /** Something may be due. */
  awake: boolean
  /** It was woken while it was being looked at. */
  wokenAgain: boolean
  running: number
}

interface Tenant {
  running: number
  /** Subscriptions that may be served, in turn. */
  ready: Set<string>
}

/** Whose turn it is: tenants in turn, and within a tenant its subscriptions in turn. */
interface Turns {
  wake(lane: DeliveryLane): void
  /** Hands out places: each turn is one, and holds it until `end`. */
  next(): Lane | undefined
  end(lane: Lane): void
  /** Takes a lane without work out of the line, unless it was woken meanwhile. */
  rest(lane: Lane): void
}

function turnsUnder({ runningPerLane, runningPerTenant }: LaneLimits): Turns {
  const lanes = new Map<string, Lane>()
  const tenants = new Map<string, Tenant>()
  /** Tenants with a subscription to serve, in turn. */
  const line = new Set<string>()

  const tenantOf = (id: string): Tenant => {
    const tenant = tenants.get(id) ?? { running: 0, ready: new Set() }
    tenants.set(id, tenant)
    return tenant
  }

  /** Puts a lane and its tenant in line, or takes them out, by what they may begin now. */
  const queueUp = (lane: Lane): void => {
    const { subscription_id: id, tenant_id: tenantId } = lane
    const tenant = tenantOf(tenantId)
    if (lane.awake && lane.running < runningPerLane) tenant.ready.add(id)
    else tenant.ready.delete(id)
    if (tenant.ready.size > 0 && tenant.running < runningPerTenant) line.add(tenantId)
    else line.delete(tenantId)
    if (!lane.awake && lane.running === 0) lanes.delete(id)
    if (tenant.running === 0 && tenant.ready.size === 0) tenants.delete(tenantId)
  }

  return {
    wake({ tenant_id, merchant_id, subscription_id }) {
      const lane = lanes.get(subscription_id) ?? { tenant_id, merchant_id, subscription_id, awake: true, wokenAgain: false, running: 0 }
      lanes.set(subscription_id, lane)
      lane.awake = true
      lane.wokenAgain = true
      queueUp(lane)
    },
    next() {
      const [tenantId] = line
      if (tenantId === undefined) return undefined
      const tenant = tenantOf(tenantId)
      const [id = ''] = tenant.ready
      const lane = lanes.get(id)
      if (!lane) throw new Error('a lane without work was to be served')
      // Out and in again: to the end of both lines.
      tenant.ready.delete(id)
      line.delete(tenantId)
      lane.wokenAgain = false
      lane.running += 1
      tenant.running += 1
      queueUp(lane)
      return lane
    },
    end(lane) {
      lane.running -= 1
      tenantOf(lane.tenant_id).running -= 1
      queueUp(lane)
    },
    rest(lane) {
      lane.awake = lane.wokenAgain
      queueUp(lane)
    },
  }
}

/**
 * Claims and makes deliveries, those that are due of the subscriptions that were woken. Places go to tenants in turn, and
 * within a tenant to its subscriptions in turn, so that a slow receiver or a flood holds up nobody else (decision 6.10).
 * What waits lies in the rows, not here: a backlog costs nothing until it is its turn.
 */
export function deliveryLanes<Delivery extends DeliveryLane>({ limits, claim, deliver, pause }: LaneOptions<Delivery>): DeliveryLanes {
  const turns = turnsUnder(limits)
  const atWork = new Set<Promise<void>>()
  let serving: Promise<void> | undefined
  let stopped = false

  /** The places of one claim: how many each lane gets. */
  const takePlaces = (): Map<Lane, number> => {
    const places = new Map<Lane, number>()
    for (let free = Math.min(limits.claimed, limits.running - atWork.size); free > 0; free -= 1) {
      const lane = turns.next()
      if (!lane) break
      places.set(lane, (places.get(lane) ?? 0) + 1)
    }
    return places
  }

  const begin = (lane: Lane, delivery: Delivery): void => {
    const work = deliver(delivery).finally(() => {
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
