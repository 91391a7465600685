import { expect, test } from 'vitest'
import { deliveryLanes } from './deliveryLanes.ts'
import type { LaneLimits } from './deliveryLanes.ts'

const wide: LaneLimits = { running: 100, runningPerTenant: 100, runningPerLane: 100, claimed: 100 }

interface Delivery { tenant_id: string, merchant_id: string, subscription_id: string, number: number }

const laneOf = (tenant: string, subscription: string) => ({ tenant_id: tenant, merchant_id: tenant, subscription_id: subscription })
const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Lanes over rows that lie outside: how many wait for each subscription. */
function bench(limits: Partial<LaneLimits> = {}) {
  const rows = new Map<string, number>()
  const atWork: { delivery: Delivery, finish: () => Promise<void> }[] = []
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
        finish: async () => {
          atWork.splice(atWork.indexOf(entry), 1)
          resolve()
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
