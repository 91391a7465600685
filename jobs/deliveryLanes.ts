import type { DeliveryJob } from './deliveryJobs.ts'

export interface LaneLimits {
  /** Deliveries at work in this process. */
  running: number
  runningPerTenant: number
  /** Deliveries at work for one subscription. */
  runningPerLane: number
  waitingPerLane: number
  waiting: number
}

export interface DeliveryLanes {
  /** Takes a delivery to be made when its turn comes; false when its lane is full. One that waits already is taken once. */
  offer(job: DeliveryJob): boolean
  /** Gives back what has waited longer than `milliseconds`. */
  takeStale(milliseconds: number): DeliveryJob[]
  /** Begins nothing more, gives back what waits, and resolves `finished` when nothing is at work. */
  stop(): { waiting: DeliveryJob[], finished: Promise<void> }
}

export interface LaneOptions {
  limits: LaneLimits
  /** Makes a delivery. Must not reject. */
  deliver(job: DeliveryJob): Promise<void>
  /** Milliseconds of a clock that never steps back. */
  elapsed(): number
}

interface Lane {
  tenantId: string
  waiting: { job: DeliveryJob, since: number }[]
  running: number
}

interface Tenant {
  running: number
  /** Subscriptions with something to begin, in turn. */
  ready: Set<string>
}

/** Whose turn it is. */
interface Turns {
  lanes: Map<string, Lane>
  /** Puts a lane and its tenant in line, or takes them out, by what they now have to begin. */
  queueUp(id: string, lane: Lane): void
  /** The next lane and its job, moved to the end of both lines; undefined when nothing can begin. */
  next(): { id: string, lane: Lane, tenant: Tenant, job: DeliveryJob } | undefined
}

function turnsUnder(limits: LaneLimits): Turns {
  const lanes = new Map<string, Lane>()
  const tenants = new Map<string, Tenant>()
  /** Tenants with a subscription to serve, in turn. */
  const turn = new Set<string>()

  const tenantOf = (id: string): Tenant => {
    const tenant = tenants.get(id) ?? { running: 0, ready: new Set() }
    tenants.set(id, tenant)
    return tenant
  }

  return {
    lanes,
    queueUp(id, lane) {
      const tenant = tenantOf(lane.tenantId)
      if (lane.waiting.length > 0 && lane.running < limits.runningPerLane) tenant.ready.add(id)
      else tenant.ready.delete(id)
      if (tenant.ready.size > 0 && tenant.running < limits.runningPerTenant) turn.add(lane.tenantId)
      else turn.delete(lane.tenantId)
      if (lane.waiting.length === 0 && lane.running === 0) lanes.delete(id)
      if (tenant.running === 0 && tenant.ready.size === 0) tenants.delete(lane.tenantId)
    },
    next() {
      const [tenantId] = turn
      if (tenantId === undefined) return undefined
      const tenant = tenantOf(tenantId)
      const [id = ''] = tenant.ready
      const lane = lanes.get(id)
      const waiting = lane?.waiting.shift()
      if (!lane || !waiting) throw new Error('a lane without work was to be served')
      // Out and in again: to the end of both lines.
      tenant.ready.delete(id)
      turn.delete(tenantId)
      return { id, lane, tenant, job: waiting.job }
    },
  }
}

/**
 * Who is served next when there is more to deliver than may be at work: tenants in turn, and within a tenant its
 * subscriptions in turn, so that a slow receiver or a flood holds up nobody else (decision 6.10).
 */
export function deliveryLanes({ limits, deliver, elapsed }: LaneOptions): DeliveryLanes {
  const { lanes, next, queueUp } = turnsUnder(limits)
  const known = new Set<string>()
  const atWork = new Set<Promise<void>>()
  let waiting = 0
  let stopped = false

  const begin = (id: string, lane: Lane, tenant: Tenant, job: DeliveryJob): void => {
    waiting -= 1
    lane.running += 1
    tenant.running += 1
    const work = deliver(job).finally(() => {
      lane.running -= 1
      tenant.running -= 1
      known.delete(job.id)
      atWork.delete(work)
      queueUp(id, lane)
      serve()
    })
    atWork.add(work)
  }

  const serve = (): void => {
    while (!stopped && atWork.size < limits.running) {
      const turn = next()
      if (!turn) return
      begin(turn.id, turn.lane, turn.tenant, turn.job)
      queueUp(turn.id, turn.lane)
    }
  }

  const drop = (id: string, lane: Lane, keep: (since: number) => boolean): DeliveryJob[] => {
    const dropped = lane.waiting.filter(({ since }) => !keep(since)).map(({ job }) => job)
    lane.waiting = lane.waiting.filter(({ since }) => keep(since))
    waiting -= dropped.length
    for (const job of dropped) known.delete(job.id)
    queueUp(id, lane)
    return dropped
  }
  const dropAll = (keep: (since: number) => boolean): DeliveryJob[] => [...lanes].flatMap(([id, lane]) => drop(id, lane, keep))

  return {
    offer(job) {
      if (known.has(job.id)) return true
      const lane = lanes.get(job.subscription_id) ?? { tenantId: job.tenant_id, waiting: [], running: 0 }
      if (stopped || lane.waiting.length >= limits.waitingPerLane || waiting >= limits.waiting) return false
      lanes.set(job.subscription_id, lane)
      known.add(job.id)
      waiting += 1
      lane.waiting.push({ job, since: elapsed() })
      queueUp(job.subscription_id, lane)
      serve()
      return true
    },
    takeStale(milliseconds) {
      const before = elapsed() - milliseconds
      return dropAll((since) => since > before)
    },
    stop() {
      stopped = true
      return { waiting: dropAll(() => false), finished: Promise.all(atWork).then(() => undefined) }
    },
  }
}
