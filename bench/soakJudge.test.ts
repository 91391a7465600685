import { expect, it } from 'vitest'
import { judgeSoak, slopeOf } from './soakJudge.ts'
import type { SoakSample } from './soakJudge.ts'

const mebibyte = 2 ** 20
const steady = (at: number): SoakSample => ({
  at, memory: { payments: 120 * mebibyte, worker: 100 * mebibyte }, deadRows: 500, liveRows: 50 * at, bytes: 1e6 + 4000 * at, walBytes: 400_000 * at,
  openJobs: 60, deliveries: 50 * at, overdue: 20,
})
const run = (change: (sample: SoakSample) => Partial<SoakSample> = () => ({})): SoakSample[] =>
  Array.from({ length: 61 }, (_, minute) => minute * 30).map((at) => ({ ...steady(at), ...change(steady(at)) }))
const missed = (samples: readonly SoakSample[]): string[] => judgeSoak(samples, 90_000).filter(({ held }) => !held).map(({ name }) => name)

it('a system that stays as it is holds every bar', () => {
  expect(missed(run())).toEqual([])
})

it('memory that is gained while warming up is no growth', () => {
  expect(missed(run(({ at }) => ({ memory: { payments: Math.min(60 + at / 3, 160) * mebibyte, worker: 100 * mebibyte } })))).toEqual([])
})

it('a process that keeps growing is named, and the others are not', () => {
  expect(missed(run(({ at }) => ({ memory: { payments: (120 + at / 10) * mebibyte, worker: 100 * mebibyte } })))).toEqual(['memory of payments'])
})

it('dead rows beyond the bound at any time after warm-up are found, though they are cleared by the end', () => {
  expect(missed(run(({ at }) => at === 1200 ? { deadRows: 60_000 } : {}))).toEqual(['dead rows'])
})

it('what is written ahead, open jobs and deliveries left behind have bars of their own', () => {
  expect(missed(run(({ at }) => ({ walBytes: 5_000_000 * at })))).toEqual(['written ahead'])
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
