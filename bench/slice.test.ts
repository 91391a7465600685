import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startBenchSystem } from './benchSystem.ts'
import type { BenchSystem } from './benchSystem.ts'
import { measurePayments } from './payments.ts'
import { paymentsSection } from './paymentResults.ts'
import { measureScaleOut } from './scaleOut.ts'
import { soak } from './soak.ts'

// Figures of so short a run say nothing of speed: what is judged is that everything was asked, answered and measured.
const directory = mkdtempSync(join(tmpdir(), 'bayar-bench-'))
const quiet = () => undefined
let system: BenchSystem
beforeAll(async () => {
  system = await startBenchSystem(directory)
}, 60_000)
afterAll(async () => {
  await system.stop()
  rmSync(directory, { recursive: true, force: true })
})

// First: later ones leave deliveries to nobody behind.
test('a slice of the soak: with a failing receiver among twenty no request fails, and nothing that is judged grows beyond its bar', async () => {
  const { load, samples, verdicts } = await soak(system, directory, quiet, { minutes: 0.1 })
  expect(load.answered).toBe(0.1 * 60 * 50)
  expect(samples.at(-1)?.deliveries).toBeGreaterThanOrEqual(load.answered)
  expect(verdicts.filter(({ held, name }) => !held && !name.startsWith('memory'))).toEqual([])
}, 120_000)

test('a slice of the bench: each operation is answered without a failure, and stands in the table beside its own statements through the driver', async () => {
  const speed = await measurePayments(system, directory, quiet, { rounds: 1, seconds: 1 })
  expect(speed.operations.map(({ name }) => name)).toEqual([
    'createPaymentIntent, several channels', 'createPaymentIntent, through the simulator', 'getPaymentIntent',
  ])
  for (const { service, half, driver, pgbench, size } of speed.operations) {
    expect([...service, ...half].map(({ failures }) => failures)).toEqual([{}, {}])
    for (const rate of [...service.map(({ perSecond }) => perSecond), ...driver, ...pgbench]) expect(rate).toBeGreaterThan(0)
    expect(size.statements).toBeGreaterThan(1)
  }
  const { text } = paymentsSection(speed, system.serverVersion)
  for (const { name } of speed.operations) expect(text.split('\n').filter((line) => line.startsWith(`| ${name} |`))).toHaveLength(3)
}, 120_000)

test('a slice of the scale-out: one and two processes answer everything, within the connections that PostgreSQL takes', async () => {
  const { rows, limit } = await measureScaleOut(system, quiet, { rounds: 1, seconds: 0.5 })
  expect(rows.map(({ payments, workers }) => [payments, workers])).toEqual([[1, 0], [2, 0], [2, 2]])
  for (const { most, even, connections } of rows) {
    expect([...most, ...even].map(({ failures }) => failures)).toEqual([{}, {}])
    expect(connections).toBeGreaterThan(0)
    expect(connections).toBeLessThan(limit)
  }
}, 120_000)
