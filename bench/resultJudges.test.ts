import { describe, expect, it, test } from 'vitest'
import { judgeAfterLoad } from './afterLoad.ts'
import type { AfterLoad } from './afterLoad.ts'
import { rateOf } from './deliveries.ts'
import type { DeliverySpeed } from './deliveries.ts'
import { deliveriesSection } from './deliveryResults.ts'
import { listsSection } from './listResults.ts'
import type { ListSpeed } from './lists.ts'
import type { LoadReport } from './openLoad.ts'
import { paymentsSection } from './paymentResults.ts'
import type { OperationSpeed, PaymentsSpeed } from './payments.ts'
import type { PipelineCost } from './pipeline.ts'
import { readsIn } from './queryPlans.ts'
import { tpsIn } from './references/pgbench.ts'
import { pipelineSection, resultsWith, startUpSection } from './results.ts'
import type { Section } from './results.ts'
import { scaleOutSection } from './scaleOut.ts'
import type { ScaleOut } from './scaleOut.ts'
import { soakSection } from './soak.ts'

const report = (more: Partial<LoadReport> = {}): LoadReport => ({ perSecond: 1000, answered: 4000, failures: {}, p50: 5, p99: 20, max: 40, ...more })
const failing = report({ answered: 3999, failures: { 503: 1 } })
const missed = ({ held, text }: Section): boolean => {
  // Whoever reads the table sees the same as the exit code tells.
  expect(text.includes('MISSED')).toBe(!held)
  return !held
}

describe('payments', () => {
  const operation = (name: OperationSpeed['name'], more: Partial<OperationSpeed> = {}): OperationSpeed => ({
    name, warmUp: report(), service: [report()], half: [report()], halfRate: 500, driver: [2000], pgbench: [2000],
    pointSelect: name === 'getPaymentIntent' ? [2000] : [], cpu: { service: 700, server: null, reference: null }, size: { statements: 9, flights: 5 }, ...more,
  })
  const speed = (first: Partial<OperationSpeed> = {}, more: Partial<PaymentsSpeed> = {}): PaymentsSpeed => ({
    operations: [
      operation('createPaymentIntent, several channels', first), operation('createPaymentIntent, through the simulator'), operation('getPaymentIntent'),
    ],
    notCompared: null, ...more,
  })

  test.each<[string, Partial<OperationSpeed>]>([
    ['a ratio below its bar', { service: [report({ perSecond: 500 })] }],
    ['a p99 at half load above its bar', { half: [report({ p99: 51 })] }],
    ['one request that fails while it is measured', { service: [failing] }],
    ['one request that fails at half load', { half: [failing] }],
    ['one request that fails while warming up', { warmUp: failing }],
    ['no request that is answered', { half: [report({ answered: 0, failures: { 503: 9 }, p50: Number.NaN, p99: Number.NaN })] }],
  ])('%s is MISSED', (_, first) => {
    expect(missed(paymentsSection(speed(first), '18.4'))).toBe(true)
  })

  it('holds every bar otherwise', () => {
    expect(missed(paymentsSection(speed(), '18.4'))).toBe(false)
  })

  it('says why nothing is compared where pgbench cannot be run, and judges the rest', () => {
    const without = (first: Partial<OperationSpeed> = {}): PaymentsSpeed => {
      const { operations } = speed(first)
      return { operations: operations.map((one) => ({ ...one, pgbench: [], pointSelect: [] })), notCompared: 'pgbench ended with 127:\nlibpq.so.5 is missing' }
    }
    const { text } = paymentsSection(without(), '18.4')
    expect(text).toContain('Not compared with pgbench: pgbench ended with 127: libpq.so.5 is missing.')
    expect(text).toContain('0.30: not compared')
    expect(missed(paymentsSection(without(), '18.4'))).toBe(false)
    expect(missed(paymentsSection(without({ half: [report({ p99: 51 })] }), '18.4'))).toBe(true)
  })

  test.each([
    ['latency average = 3.1 ms\ntps = 512.250000 (without initial connection time)\n', 512.25],
    ['tps = 500.1 (including connections establishing)\ntps = 512.25 (excluding connections establishing)\n', 512.25],
    ['pgbench: error: connection to server failed\n', undefined],
  ])('the rate in what pgbench of each version writes: %s', (written, rate) => {
    expect(tpsIn(written)).toBe(rate)
  })
})

const after = (more: Partial<AfterLoad> = {}): AfterLoad => ({ acknowledged: 12_000, created: 12_000, verdicts: [{ name: 'I4.ended_when', offenders: [] }], ...more })

describe('what a load leaves', () => {
  const names = (given: AfterLoad): string[] => judgeAfterLoad(given).filter(({ held }) => held !== true).map(({ name }) => name)

  it('is as it should be when all that was acknowledged is there and every invariant holds', () => {
    expect(names(after())).toEqual([])
    // A request whose answer was lost may have made one more.
    expect(names(after({ created: 12_001 }))).toEqual([])
  })

  it('is not when one of the acknowledged is missing, or nothing was acknowledged at all', () => {
    expect(names(after({ created: 11_999 }))).toEqual(['acknowledged creations that are there'])
    expect(names(after({ acknowledged: 0, created: 0 }))).toEqual(['acknowledged creations that are there'])
  })

  it('is not when an invariant is broken, which is named with a row, or none was asked', () => {
    const broken = after({ verdicts: [{ name: 'I4.ended_when', offenders: [] }, { name: 'I6.none_asleep', offenders: [{ id: 'd1' }] }] })
    expect(names(broken)).toEqual(['invariants after the load'])
    expect(judgeAfterLoad(broken).at(-1)?.figure).toBe('1 of 2 are broken: I6.none_asleep, as in {"id":"d1"}')
    expect(names(after({ verdicts: [] }))).toEqual(['invariants after the load'])
  })

  test.each<[string, Partial<ScaleOut>, Partial<ScaleOut['rows'][number]>]>([
    ['a broken invariant', { afterLoad: after({ verdicts: [{ name: 'I4.ended_when', offenders: [{}] }] }) }, {}],
    ['an acknowledged creation that is lost', { afterLoad: after({ created: 1 }) }, {}],
    ['a request that fails', {}, { even: [failing] }],
    ['more connections than there are', {}, { connections: 101 }],
  ])('scale-out with %s is MISSED', (_, more, row) => {
    const scaled = (all: Partial<ScaleOut>, one: Partial<ScaleOut['rows'][number]>): ScaleOut => ({
      rows: [{ payments: 1, workers: 0, warmUp: report(), most: [report()], even: [report()], connections: 40, ...one }],
      evenRate: 500, atATime: 32, limit: 100, afterLoad: after(), ...all,
    })
    expect(missed(scaleOutSection(scaled({}, {}), '18.4'))).toBe(false)
    expect(missed(scaleOutSection(scaled(more, row), '18.4'))).toBe(true)
  })
})

describe('lists', () => {
  const one = (more: Partial<ListSpeed> = {}): ListSpeed => ({
    list: 'listEvents', name: 'page 1', asker: 'big', query: {}, page: 1, limit: 20, hasBar: true, total: 7, warmUp: report(), perSecond: 100,
    reports: [report(), report(), report()], reads: ['Index Scan on events_pkey'], isAsKept: true, ...more,
  })
  const section = (speed: ListSpeed): Section => listsSection({ intents: 1_000_000, seedSeconds: 300, speeds: [speed], serverVersion: '18.4' })
  const slow = report({ p99: 101 })
  const endToEnd = ['Seq Scan on events', 'Index Scan on events_pkey']

  test.each<[string, Partial<ListSpeed>]>([
    ['a p99 above the bar in two runs of three', { reports: [report(), slow, slow] }],
    ['a table read from end to end', { reads: endToEnd, isAsKept: false }],
    ['a table read from end to end where no plan is kept', { reads: endToEnd, isAsKept: null }],
    ['a request that fails', { reports: [report(), report(), failing] }],
    ['a request that fails before it is measured', { total: null, warmUp: failing }],
    ['a request that fails where there is no bar', { hasBar: false, reports: [failing] }],
  ])('%s is MISSED', (_, more) => {
    expect(missed(section(one(more)))).toBe(true)
  })

  it('holds with one slow run of three, and with another plan that reads indexes alone, which is named', () => {
    expect(missed(section(one({ reports: [report(), report(), slow] })))).toBe(false)
    const other = section(one({ isAsKept: false, reads: ['Bitmap Index Scan on events_by_kind'] }))
    expect(missed(other)).toBe(false)
    expect(other.text).toContain('another: Bitmap Index Scan on events_by_kind')
  })

  it('what has no bar may be slow, and read a table from end to end', () => {
    expect(missed(section(one({ hasBar: false, reports: [slow], reads: endToEnd, isAsKept: false })))).toBe(false)
  })

  it('what a plan reads is found in it, each once', () => {
    const plan = '## page 1, big\n\nNested Loop\n  CTE found: Seq Scan on events\n  CTE Scan on found\n  Index Scan backward on events_newest\n  Index Scan backward on events_newest'
    expect(readsIn(plan)).toEqual(['Seq Scan on events', 'Index Scan backward on events_newest'])
  })
})

describe('deliveries', () => {
  const drain = { name: 'one worker', perSecond: [1400], cpu: [600], missing: 0, repeated: 0 }
  const sustained = { name: '1020 a second', events: 20_400, perSecond: 1012, bar: 1000, p50: 40, p99: 200, missing: 0 }
  const speed = (more: Partial<DeliverySpeed> = {}): Section => deliveriesSection({ drains: [drain], latencies: [sustained], serverVersion: '18.4', ...more })

  test.each<[string, Partial<DeliverySpeed>]>([
    ['a rate while events are written that is below what was to be reached', { latencies: [{ ...sustained, perSecond: 999 }] }],
    ['a p99', { latencies: [{ ...sustained, p99: 2001 }] }],
    ['a slow drain', { drains: [{ ...drain, perSecond: [990] }] }],
    ['a cost that grows with what lies there', { drains: [drain, { ...drain, cpu: [800] }] }],
  ])('%s is MISSED', (_, more) => {
    expect(missed(speed())).toBe(false)
    expect(missed(speed(more))).toBe(true)
  })

  it('events that do not arrive hold no bar', () => {
    expect(missed(speed({ latencies: [{ ...sustained, missing: 1 }] }))).toBe(true)
    expect(missed(speed({ drains: [{ ...drain, missing: 1 }] }))).toBe(true)
  })

  it('the rate is that of the most of them: one that comes late does not change it, all that come slower do', () => {
    const evenly = Array.from({ length: 2000 }, (_, at) => at)
    expect(rateOf(evenly)).toBeCloseTo(1000)
    expect(rateOf([...evenly, 9000])).toBeCloseTo(1000)
    expect(rateOf(evenly.map((at) => at * 1.25))).toBeCloseTo(800)
    expect(rateOf([])).toBeNaN()
  })

  it('where CPU cannot be read its cost is not judged', () => {
    const { held, text } = speed({ drains: [drain, { ...drain, cpu: [null] }] })
    expect(held).toBe(true)
    expect(text).toContain('not measured')
  })
})

describe('start-up and pipeline', () => {
  const start = { cold: 0.5, kept: 0.4, synthetic: { ready: 0.9, compile: 0.7 }, everything: 6 }
  test.each([['the payments process', { cold: 3.1 }], ['the synthetic document', { synthetic: { ready: 3.1, compile: 2 } }], ['all of it', { everything: 8.1 }]])(
    'a start of %s that takes too long is MISSED', (_, more) => {
      expect(missed(startUpSection(start, '18.4'))).toBe(false)
      expect(missed(startUpSection({ ...start, ...more }, '18.4'))).toBe(true)
    })

  it('the pipeline is judged by what it adds, and the heading says so', () => {
    const alike = { median: 64, low: 60, high: 80 }
    const cost = (own: number): Section => pipelineSection({
      cpu: { 'http': alike, 'express': alike, 'pipeline': alike, 'pipeline-checked': alike }, own, ownExpress: 5, ownChecked: 90, operations: 330,
    } satisfies PipelineCost)
    expect(cost(49).text).toMatch(/^## Pipeline: .* adds to bare node:http\n/)
    expect(missed(cost(49))).toBe(false)
    expect(missed(cost(61))).toBe(true)
  })
})

it('a short soak does not take the place of one that shows endurance', () => {
  const soak = (minutes: number): Section => soakSection({ minutes, samples: [], load: report(), verdicts: [] }, '18.4')
  const both = resultsWith(resultsWith('', soak(30)), soak(1))
  expect(both).toContain('30 minutes at')
  expect(both).toContain('1 minutes at')
  expect(resultsWith(both, soak(20))).not.toContain('30 minutes at')
})

it('a soak of which a bar was missed does not hold; one that could not be judged stands there as such', () => {
  const soak = (held: boolean | null): Section =>
    soakSection({ minutes: 30, samples: [], load: report(), verdicts: [{ name: 'memory of worker 1', figure: 'a figure', bar: '', held }] }, '18.4')
  expect(missed(soak(true))).toBe(false)
  expect(missed(soak(false))).toBe(true)
  expect(soak(null)).toMatchObject({ held: true, text: expect.stringContaining('not judged') as string })
})
