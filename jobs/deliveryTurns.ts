import type { DeliveryLane } from '../db/payments/webhookClaims.ts'

/** How many deliveries may be at work. A slow receiver holds a place for up to 30 s, so places are what it could take from others. */
export interface LaneLimits {
  /** In this process. */
  running: number
  /** Of these, for subscriptions that have nothing at work and are not slow. */
  kept: number
  runningPerTenant: number
  /** Of these, for subscriptions of the tenant that have nothing at work and are not slow. */
  keptPerTenant: number
  /** For one subscription. */
  runningPerLane: number
  /** For a slow one, whose receiver takes longer than `slowMs` on average of late. At least one. */
  runningPerSlowLane: number
  slowMs: number
  /** Claimed in one go. */
  claimed: number
}

/** The limits of a process (decision 6.10). */
export const deliveryLimits: LaneLimits = {
  // Half a thousand for whoever's turn it is. The others are there for the half minute in which receivers that have just become
  // slow, and are not known to be, hold all of these: enough for a first delivery of every other subscription, time and again.
  running: 600, kept: 100,
  // Less than half of a process, so that two tenants that flood leave room for a third; kept in the same way.
  runningPerTenant: 250, keptPerTenant: 50,
  // At 100 ms an answer a hundred a second, and no more at once than a small server bears.
  runningPerLane: 10,
  // It takes 250 slow subscriptions to hold what is not kept, and one of them is still tried while another of its answers is awaited.
  runningPerSlowLane: 2,
  // One answer out of eight that takes the 30 s in all makes 3.75 s on average: a single one makes nobody slow, two do.
  slowMs: 5000,
  // The database claims this many in about the time of one.
  claimed: 64,
}

/** An average goes back over about as many answers. */
const averagedOver = 8
/** Subscriptions whose average is remembered, about a megabyte; the others count as quick. */
const remembered = 10_000

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
  /** Those of them that a kept place is for. */
  idle: Set<string>
}

/** Whose turn it is: tenants in turn, and within a tenant its subscriptions in turn. */
export interface Turns {
  wake(lane: DeliveryLane): void
  /** Hands out places, as long as there are any: each turn is one, and holds it until `end`. */
  next(): Lane | undefined
  end(lane: Lane): void
  /** Takes note of how long an answer took. */
  took(lane: Lane, milliseconds: number): void
  /** Takes a lane without work out of the line, unless it was woken meanwhile. */
  rest(lane: Lane): void
}

/** Turns under these limits. Each costs the same, however many subscriptions and deliveries wait. */
export function turnsUnder(limits: LaneLimits): Turns {
  const freely = limits.running - limits.kept
  const freelyPerTenant = limits.runningPerTenant - limits.keptPerTenant
  const lanes = new Map<string, Lane>()
  const tenants = new Map<string, Tenant>()
  const paces = pacesOf(limits.slowMs)
  /** Tenants with a subscription to serve, in turn. */
  const line = new Set<string>()
  /** Those of them that a kept place is for. */
  const keptLine = new Set<string>()
  let running = 0

  const tenantOf = (id: string): Tenant => {
    const tenant = tenants.get(id) ?? { running: 0, ready: new Set(), idle: new Set() }
    tenants.set(id, tenant)
    return tenant
  }

  /** Puts a lane and its tenant in line, or takes them out, by what they may begin now. */
  const queueUp = (lane: Lane): void => {
    const { subscription_id: id, tenant_id: tenantId } = lane
    const tenant = tenantOf(tenantId)
    const slow = paces.isSlow(id)
    place(tenant.ready, id, lane.awake && lane.running < (slow ? limits.runningPerSlowLane : limits.runningPerLane))
    place(tenant.idle, id, lane.awake && lane.running === 0 && !slow)
    const hasIdle = tenant.idle.size > 0 && tenant.running < limits.runningPerTenant
    place(line, tenantId, hasIdle || (tenant.ready.size > 0 && tenant.running < freelyPerTenant))
    place(keptLine, tenantId, hasIdle)
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
      if (running >= limits.running) return undefined
      const [tenantId] = running < freely ? line : keptLine
      if (tenantId === undefined) return undefined
      const tenant = tenantOf(tenantId)
      const [id = ''] = running < freely && tenant.running < freelyPerTenant ? tenant.ready : tenant.idle
      const lane = lanes.get(id)
      if (!lane) throw new Error('a lane without work was to be served')
      // Out and in again: to the end of all lines.
      for (const ids of [tenant.ready, tenant.idle]) ids.delete(id)
      for (const ids of [line, keptLine]) ids.delete(tenantId)
      lane.wokenAgain = false
      lane.running += 1
      tenant.running += 1
      running += 1
      queueUp(lane)
      return lane
    },
    end(lane) {
      lane.running -= 1
      tenantOf(lane.tenant_id).running -= 1
      running -= 1
      queueUp(lane)
    },
    took: ({ subscription_id }, milliseconds) => paces.note(subscription_id, milliseconds),
    rest(lane) {
      lane.awake = lane.wokenAgain
      queueUp(lane)
    },
  }
}

function place(ids: Set<string>, id: string, within: boolean): void {
  if (within) ids.add(id)
  else ids.delete(id)
}

/** Which receivers are slow: more than `slowMs` on average. It outlives their lanes, for those that have one delivery at a time. */
function pacesOf(slowMs: number): { isSlow(id: string): boolean, note(id: string, milliseconds: number): void } {
  const averages = new Map<string, number>()
  return {
    isSlow: (id) => (averages.get(id) ?? 0) > slowMs,
    note(id, milliseconds) {
      const average = averages.get(id) ?? 0
      averages.delete(id)
      averages.set(id, average + (milliseconds - average) / averagedOver)
      const [oldest] = averages.keys()
      if (averages.size > remembered && oldest !== undefined) averages.delete(oldest)
    },
  }
}
