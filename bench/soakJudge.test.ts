import { expect, it } from 'vitest'
import { judgeSoak, slopeOf } from './soakJudge.ts'
import type { SoakSample } from './soakJudge.ts'

const mebibyte = 2 ** 20
const steady = (at: number): SoakSample => ({
  at, memory: { payments: 120 * mebibyte, worker: 100 * mebibyte }, bytes: 1e6 + 4000 * at, walBytes: 400_000 * at,
  walKept: 600 * mebibyte, rows: { intents: { dead: 500, live: 50 * at }, totals: { dead: 5000, live: 60 } },
  openJobs: 60, deliveries: 50 * at, overdue: 20,
})
const run = (change: (sample: SoakSample) => Partial<SoakSample> = () => ({}), minutes = 30): SoakSample[] =>
  Array.from({ length: 61 }, (_, sample) => sample * minutes).map((at) => ({ ...steady(at), ...change(steady(at)) }))
const missed = (samples: readonly SoakSample[]): string[] => judgeSoak(samples, 90_000).filter(({ held }) => held === false).map(({ name }) => name)

it('a system that stays as it is holds every bar', () => {
  expect(missed(run())).toEqual([])
})

it('memory that is gained while warming up is no growth', () => {
  expect(missed(run(({ at }) => ({ memory: { payments: Math.min(60 + at / 3, 160) * mebibyte, worker: 100 * mebibyte } })))).toEqual([])
})

it('a process that keeps growing is named, and the others are not', () => {
  expect(missed(run(({ at }) => ({ memory: { payments: (120 + at / 10) * mebibyte, worker: 100 * mebibyte } })))).toEqual(['memory of payments'])
})

it('a long run is judged by the slope alone: what a short one may gain is too much in it', () => {
  const growing = ({ at }: SoakSample) => ({ memory: { payments: (120 + at / 36) * mebibyte, worker: 100 * mebibyte } })
  expect(missed(run(growing, 20))).toEqual(['memory of payments'])
  expect(missed(run(growing, 19))).toEqual([])
})

it('a short run is judged by what is gained in all, and not while heaps still fill', () => {
  const growing = ({ at }: SoakSample) => ({ memory: { payments: (120 + at / 4) * mebibyte, worker: 100 * mebibyte } })
  expect(missed(run(growing, 10))).toEqual(['memory of payments'])
  const brief = judgeSoak(run(growing, 9), 90_000).filter(({ name }) => name.startsWith('memory'))
  expect(brief.map(({ held }) => held)).toEqual([null, null])
})

it('a process that is gone holds no bar; where memory cannot be read nothing is judged', () => {
  expect(missed(run(({ at }) => ({ memory: { payments: 120 * mebibyte, worker: at > 1500 ? Number.NaN : 100 * mebibyte } })))).toEqual(['memory of worker'])
  expect(missed(run(() => ({ memory: { payments: 120 * mebibyte, worker: Number.NaN } })))).toEqual(['memory of worker'])
  const unread = judgeSoak(run(() => ({ memory: { payments: Number.NaN } })), 90_000).find(({ name }) => name === 'memory of payments')
  expect(unread).toMatchObject({ held: null, figure: expect.stringContaining('not measured') as string })
})

it('dead rows beyond the bound at any time after warm-up are found, though they are cleared by the end', () => {
  const heap = (at: number, dead: number) => ({ rows: { intents: { dead: 500, live: 50 * at }, totals: { dead, live: 60 } } })
  expect(missed(run(({ at }) => heap(at, at === 1200 ? 60_000 : 0)))).toEqual(['dead rows of a table'])
  expect(missed(run(({ at }) => heap(at, at === 300 ? 60_000 : 0)))).toEqual([])
})

it('the dead rows of a small table are not made up for by a large one beside it', () => {
  const beside = (dead: number) => run(() => ({ rows: { intents: { dead: 0, live: 1_000_000 }, totals: { dead, live: 60 } } }))
  expect(missed(beside(30_000))).toEqual([])
  expect(judgeSoak(beside(30_001), 90_000).find(({ held }) => held === false)?.figure).toBe('30001 beside 60 live ones in totals at most')
})

it('what is written ahead, open jobs and deliveries left behind have bars of their own', () => {
  expect(missed(run(({ at }) => ({ walBytes: 5_000_000 * at })))).toEqual(['written ahead'])
  expect(missed(run(({ at }) => ({ walKept: at * 1.2 * mebibyte })))).toEqual(['written ahead and kept'])
  expect(missed(run(({ at }) => ({ openJobs: 10 * at })))).toEqual(['open jobs'])
  expect(missed(run(({ at }) => ({ overdue: 20 * at })))).toEqual(['deliveries due and not sent'])
})

it('a run with too few samples is not judged', () => {
  expect(() => judgeSoak(run().slice(0, 5), 100)).toThrow('too few')
})

it('the slope is that of the nearest line', () => {
  expect(slopeOf([[0, 1], [1, 3], [2, 5]])).toBe(2)
  expect(slopeOf([[1, 5]])).toBe(0)
})
