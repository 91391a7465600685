import { describe, expect, test } from 'vitest'
import { deliveryLanes } from './deliveryLanes.ts'
import { deliveryLimits } from './deliveryTurns.ts'
import type { LaneLimits } from './deliveryTurns.ts'

const wide: LaneLimits = {
  running: 100, kept: 0, runningPerTenant: 100, keptPerTenant: 0, runningPerLane: 100, runningPerSlowLane: 1, slowMs: 5000, claimed: 100,
}

interface Delivery { tenant_id: string, merchant_id: string, subscription_id: string, number: number }

const laneOf = (tenant: string, subscription: string) => ({ tenant_id: tenant, merchant_id: tenant, subscription_id: subscription })
const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Lanes over rows that lie outside: how many wait for each subscription. */
function bench(limits: Partial<LaneLimits> = {}) {
  const rows = new Map<string, number>()
  const atWork: { delivery: Delivery, finish: (tookMs?: number) => Promise<void> }[] = []
  const claims: { subscription: string, most: number }[][] = []
  const locked = new Set<string>()
  let made = 0
  let pauses = 0
  let hold: Promise<void> | undefined
  const lanes = deliveryLanes<Delivery>({
    limits: { ...wide, ...limits },
    pause: async () => {
      pauses += 1
      await turn()
    },
    async claim(wanted) {
      claims.push(wanted.map(({ subscription_id, most }) => ({ subscription: subscription_id, most })))
      const claimed = wanted.filter(({ subscription_id }) => !locked.has(subscription_id)).flatMap(({ most, ...lane }) => {
        const count = Math.min(most, rows.get(lane.subscription_id) ?? 0)
        rows.set(lane.subscription_id, (rows.get(lane.subscription_id) ?? 0) - count)
        return Array.from({ length: count }, () => ({ ...lane, number: made++ }))
      })
      const seen = new Set(wanted.map(({ subscription_id }) => subscription_id).filter((id) => !locked.has(id)))
      await hold
      return { claimed, seen }
    },
    deliver: (delivery) => new Promise((resolve) => {
      const entry = {
        delivery,
        finish: async (tookMs = 100) => {
          atWork.splice(atWork.indexOf(entry), 1)
          resolve(tookMs)
          await turn()
        },
      }
      atWork.push(entry)
    }),
  })
  return {
    lanes, rows, atWork, claims, locked,
    pauses: () => pauses,
    holdClaims: (until: Promise<void>) => {
      hold = until
    },
    due: (tenant: string, subscription: string, count: number) => {
      rows.set(subscription, (rows.get(subscription) ?? 0) + count)
      lanes.wake(laneOf(tenant, subscription))
      return turn()
    },
    /** Ends what is at work for these, all of it or as much as is given, after as long. */
    answer: async (chosen: (id: string) => boolean, tookMs: number, most = Infinity) => {
      for (const { finish } of atWork.filter(({ delivery }) => chosen(delivery.subscription_id)).slice(0, most)) await finish(tookMs)
    },
    counts: () => Object.fromEntries([...Map.groupBy(atWork, ({ delivery }) => delivery.subscription_id)].map(([id, all]) => [id, all.length])),
  }
}

test('a slow receiver has its own share and holds up nobody else', async () => {
  const { due, counts } = bench({ runningPerLane: 2 })
  await due('t', 'slow', 50)
  await due('t', 'other', 1)
  expect(counts()).toEqual({ slow: 2, other: 1 })
})

test('a backlog waits in the rows: what is claimed is what may be at work', async () => {
  const { due, rows, atWork, counts } = bench({ runningPerLane: 10 })
  await due('t', 'a', 100_000)
  expect(rows.get('a')).toBe(99_990)
  await atWork[0]?.finish()
  expect(rows.get('a')).toBe(99_989)
  expect(counts()).toEqual({ a: 10 })
})

test('a tenant that floods is served in turn with the others', async () => {
  const { due, atWork, rows } = bench({ running: 2, claimed: 1 })
  for (let n = 0; n < 10; n += 1) await due('flood', `f${n}`, 50)
  await due('quiet', 'q', 5)
  for (let n = 0; n < 8; n += 1) await atWork[0]?.finish()
  expect(atWork).toHaveLength(2)
  expect(rows.get('q')).toBeLessThanOrEqual(2)
})

test('the places of one claim go to tenants in turn', async () => {
  const { lanes, rows, atWork } = bench({ running: 4 })
  for (const [tenant, subscription] of [['flood', 'f1'], ['flood', 'f2'], ['quiet', 'q']] as const) {
    rows.set(subscription, 50)
    lanes.wake(laneOf(tenant, subscription))
  }
  await turn()
  for (const { finish } of [...atWork]) await finish()
  const served = atWork.map(({ delivery }) => delivery.tenant_id)
  expect(served.filter((tenant) => tenant === 'quiet')).toHaveLength(2)
})

test('no tenant has more at work than its share', async () => {
  const { due, counts } = bench({ runningPerTenant: 3 })
  for (let n = 0; n < 9; n += 1) await due('t', `s${n}`, 1)
  expect(counts()).toEqual({ s0: 1, s1: 1, s2: 1 })
})

test('no more is claimed at once than one claim may hold', async () => {
  const { due, claims } = bench({ claimed: 5 })
  await due('t', 'a', 12)
  await turn()
  expect(claims.flat().map(({ most }) => most)).toEqual([5, 5, 5])
})

test('a lane whose rows are done rests until it is woken', async () => {
  const { due, claims, atWork } = bench()
  await due('t', 'a', 1)
  await atWork[0]?.finish()
  expect(claims).toHaveLength(1)
  await due('t', 'a', 1)
  expect(claims).toHaveLength(2)
  expect(atWork).toHaveLength(1)
})

test('what becomes due while its lane is looked at is not missed', async () => {
  const { lanes, rows, atWork, holdClaims } = bench()
  const release = Promise.withResolvers<void>()
  holdClaims(release.promise)
  lanes.wake(laneOf('t', 'a'))
  await turn()
  rows.set('a', 1)
  lanes.wake(laneOf('t', 'a'))
  holdClaims(Promise.resolve())
  release.resolve()
  await turn()
  expect(atWork).toHaveLength(1)
})

test('a lane that could not be looked at is tried again after a pause; the others are served meanwhile', async () => {
  const { due, locked, counts, pauses } = bench()
  locked.add('a')
  await due('t', 'a', 1)
  await due('t', 'b', 1)
  await turn()
  expect(counts()).toEqual({ b: 1 })
  expect(pauses()).toBeGreaterThan(0)
  locked.clear()
  await turn()
  expect(counts()).toEqual({ a: 1, b: 1 })
})

test('stopping claims nothing more, and waits for what is at work', async () => {
  const { lanes, due, atWork, rows } = bench({ runningPerLane: 1 })
  await due('t', 'a', 2)
  let stopped = false
  const stopping = lanes.stop().then(() => {
    stopped = true
  })
  lanes.wake(laneOf('t', 'b'))
  await turn()
  expect(stopped).toBe(false)
  await atWork[0]?.finish()
  await stopping
  expect(atWork).toHaveLength(0)
  expect(rows.get('a')).toBe(1)
})

describe('receivers that keep their deliveries for long', () => {
  const isSlow = (id: string) => id.startsWith('slow')
  const answered29s = 29_000
  const backlogs = async ({ due }: Pick<ReturnType<typeof bench>, 'due'>, tenants: number, lanes: number) => {
    for (let lane = 0; lane < lanes; lane += 1) {
      for (let tenant = 0; tenant < tenants; tenant += 1) await due(`t${tenant}`, `slow-${tenant}-${lane}`, 100)
    }
  }

  test('with backlogs at 60 tenants hold up nobody, neither before they are known to be slow nor then', async () => {
    const served = bench(deliveryLimits)
    await backlogs(served, 60, 1)
    await served.due('quick', 'first', 1)
    expect(served.counts().first).toBe(1)
    for (let n = 0; n < 2; n += 1) await served.answer(isSlow, answered29s)
    await served.due('quick', 'second', 50)
    expect(served.counts().second).toBe(deliveryLimits.runningPerLane)
    for (let n = 0; n < 60; n += 1) expect(served.counts()[`slow-${n}-0`]).toBe(deliveryLimits.runningPerSlowLane)
  })

  test('at twenty subscriptions of each of three tenants hold up neither another of these tenants nor anybody else', async () => {
    const alone = bench(deliveryLimits)
    await backlogs(alone, 1, 20)
    await alone.due('t0', 'own', 1)
    expect(alone.counts().own).toBe(1)
    const served = bench(deliveryLimits)
    await backlogs(served, 3, 20)
    for (const [tenant, id] of [['t0', 'first'], ['t2', 'other'], ['quick', 'third']] as const) {
      await served.due(tenant, id, 1)
      expect(served.counts()[id]).toBe(1)
    }
    for (let n = 0; n < 2; n += 1) await served.answer(isSlow, answered29s)
    await served.due('t0', 'second', 50)
    expect(served.counts().second).toBe(deliveryLimits.runningPerLane)
  })

  test('take none of the kept places, however many they are and though each has one delivery at a time', async () => {
    const served = bench({ running: 6, kept: 2 })
    for (let round = 0; round < 3; round += 1) {
      for (let n = 0; n < 10; n += 1) await served.due(`t${n}`, `slow-${n}`, 1)
      if (round < 2) while (served.atWork.length > 0) await served.answer(isSlow, 60_000)
    }
    expect(served.atWork).toHaveLength(4)
    await served.due('quick', 'first', 5)
    expect(served.counts().first).toBe(1)
    await served.due('t0', 'second', 5)
    expect(served.counts().second).toBe(1)
  })

  test('get their places back when they are quick again', async () => {
    const { answer, counts, due } = bench(deliveryLimits)
    await due('t', 'slow', 1000)
    await answer(isSlow, answered29s)
    expect(counts()).toEqual({ slow: deliveryLimits.runningPerSlowLane })
    for (let n = 0; n < 10; n += 1) await answer(isSlow, 100)
    expect(counts()).toEqual({ slow: deliveryLimits.runningPerLane })
  })

  test('one answer that takes all the time there is costs a quick receiver nothing', async () => {
    const { answer, counts, due } = bench(deliveryLimits)
    await due('t', 'a', 1000)
    for (const tookMs of [100, 30_000, 100]) await answer(() => true, tookMs, 1)
    expect(counts()).toEqual({ a: deliveryLimits.runningPerLane })
  })
})

test('quick receivers have as many places as there are but the kept ones: one subscription ten, a tenant two hundred, all together five hundred', async () => {
  const { due, counts, atWork } = bench(deliveryLimits)
  await due('t0', 's0-0', 1000)
  expect(counts()).toEqual({ 's0-0': 10 })
  for (let lane = 1; lane < 20; lane += 1) await due('t0', `s0-${lane}`, 1000)
  expect(atWork).toHaveLength(200)
  expect(new Set(Object.values(counts()))).toEqual(new Set([10]))
  for (let tenant = 1; tenant < 4; tenant += 1) {
    for (let lane = 0; lane < 20; lane += 1) await due(`t${tenant}`, `s${tenant}-${lane}`, 1000)
  }
  expect(atWork.length).toBeGreaterThanOrEqual(500)
})

test('a place that is kept is for one delivery of a subscription, and a tenant has no more than its own', async () => {
  const { due, counts } = bench({ running: 20, kept: 5, runningPerTenant: 6, keptPerTenant: 2 })
  await due('t', 'flood', 50)
  for (const id of ['a', 'b', 'c']) await due('t', id, 5)
  expect(counts()).toEqual({ flood: 4, a: 1, b: 1 })
})
