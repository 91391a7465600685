import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { DeliveryJob } from './deliveryJobs.ts'
import { deliveryLanes } from './deliveryLanes.ts'
import type { LaneLimits } from './deliveryLanes.ts'

const wide: LaneLimits = { running: 100, runningPerTenant: 100, runningPerLane: 100, waitingPerLane: 100, waiting: 1000 }
const job = (tenant: string, subscription: string): DeliveryJob => ({ id: randomUUID(), tenant_id: tenant, merchant_id: tenant, subscription_id: subscription })

function bench(limits: Partial<LaneLimits>) {
  const atWork: { job: DeliveryJob, finish: () => Promise<void> }[] = []
  let time = 0
  const lanes = deliveryLanes({
    limits: { ...wide, ...limits }, elapsed: () => time,
    deliver: (begun) => new Promise((resolve) => {
      const entry = {
        job: begun,
        finish: async () => {
          atWork.splice(atWork.indexOf(entry), 1)
          resolve()
          await new Promise((turn) => setImmediate(turn))
        },
      }
      atWork.push(entry)
    }),
  })
  return { lanes, atWork, pass: (milliseconds: number) => { time += milliseconds }, names: () => atWork.map((entry) => entry.job.subscription_id) }
}

test('a slow receiver has its own share and holds up nobody else', async () => {
  const { lanes, names } = bench({ runningPerLane: 2 })
  for (let n = 0; n < 50; n += 1) lanes.offer(job('t', 'slow'))
  lanes.offer(job('t', 'other'))
  expect(names()).toEqual(['slow', 'slow', 'other'])
})

test('a tenant that floods is served in turn with the others', async () => {
  const { lanes, atWork, names } = bench({ running: 2 })
  for (let n = 0; n < 50; n += 1) lanes.offer(job('flood', `f${n % 10}`))
  for (let n = 0; n < 5; n += 1) lanes.offer(job('quiet', 'q'))
  for (let n = 0; n < 8; n += 1) await atWork[0]?.finish()
  expect(names().length).toBe(2)
  const begunByQuiet = 5 - lanes.stop().waiting.filter(({ tenant_id }) => tenant_id === 'quiet').length
  expect(begunByQuiet).toBeGreaterThanOrEqual(3)
})

test('no tenant has more at work than its share', () => {
  const { lanes, names } = bench({ runningPerTenant: 3 })
  for (let n = 0; n < 9; n += 1) lanes.offer(job('t', `s${n}`))
  expect(names()).toEqual(['s0', 's1', 's2'])
})

test('a full lane takes no more; another one does', () => {
  const { lanes } = bench({ runningPerLane: 1, waitingPerLane: 2 })
  expect([1, 2, 3, 4].map(() => lanes.offer(job('t', 'a')))).toEqual([true, true, true, false])
  expect(lanes.offer(job('t', 'b'))).toBe(true)
})

test('a delivery that waits or is at work is taken once', async () => {
  const { lanes, atWork } = bench({ runningPerLane: 1 })
  const [first, second] = [job('t', 'a'), job('t', 'a')]
  for (const each of [first, second, first, second]) expect(lanes.offer(each)).toBe(true)
  await atWork[0]?.finish()
  await atWork[0]?.finish()
  expect(atWork).toHaveLength(0)
  lanes.offer(first)
  expect(atWork).toHaveLength(1)
})

test('what waits too long is given back, what is at work is not', () => {
  const { lanes, pass, atWork } = bench({ runningPerLane: 1 })
  const jobs = [job('t', 'a'), job('t', 'a'), job('t', 'a')]
  jobs.slice(0, 2).forEach((each) => lanes.offer(each))
  pass(1000)
  lanes.offer(jobs[2] as DeliveryJob)
  expect(lanes.takeStale(500)).toEqual([jobs[1]])
  expect(atWork).toHaveLength(1)
})

test('stopping gives back what waits, begins nothing, and waits for what is at work', async () => {
  const { lanes, atWork } = bench({ runningPerLane: 1 })
  const jobs = [job('t', 'a'), job('t', 'a')]
  jobs.forEach((each) => lanes.offer(each))
  const { waiting, finished } = lanes.stop()
  expect(waiting).toEqual([jobs[1]])
  expect(lanes.offer(job('t', 'b'))).toBe(false)
  await atWork[0]?.finish()
  await finished
  expect(atWork).toHaveLength(0)
})
