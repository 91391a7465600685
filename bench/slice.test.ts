import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startBenchSystem } from './benchSystem.ts'
import type { BenchSystem } from './benchSystem.ts'
import { measurePayments } from './payments.ts'
import { paymentsSection } from './paymentResults.ts'
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

test('a slice of the soak: with a failing receiver among twenty no request fails, and nothing that is judged grows beyond its bar', async () => {
  const { load, samples, verdicts } = await soak(system, directory, quiet, { minutes: 0.1 })
  expect([load.answered, load.failures]).toEqual([0.1 * 60 * 50, {}])
  expect(samples.at(-1)?.deliveries).toBeGreaterThan(0)
  expect(verdicts.map(({ name }) => name)).toContain('invariants after the load')
  expect(verdicts.filter(({ held }) => held === false)).toEqual([])
}, 120_000)

// Last: the driver and pgbench write rows of their own, which keep no invariant.
test('a slice of the bench: each operation is answered without a failure, and stands in the table beside its own statements through the driver', async () => {
  const speed = await measurePayments(system, directory, quiet, { rounds: 1, seconds: 1 })
  expect(speed.operations.map(({ name }) => name)).toEqual([
    'createPaymentIntent, several channels', 'createPaymentIntent, through the simulator', 'getPaymentIntent',
  ])
  for (const { warmUp, service, half, driver, pgbench, size } of speed.operations) {
    expect([warmUp, ...service, ...half].map(({ failures }) => failures)).toEqual([{}, {}, {}])
    for (const rate of [...service.map(({ perSecond }) => perSecond), ...driver, ...pgbench]) expect(rate).toBeGreaterThan(0)
    expect(size.statements).toBeGreaterThan(1)
  }
  expect(speed.operations.every(({ pgbench }) => pgbench.length > 0)).toBe(speed.notCompared === null)
  const { text } = paymentsSection(speed, system.serverVersion)
  for (const { name } of speed.operations) expect(text.split('\n').filter((line) => line.startsWith(`| ${name} |`))).toHaveLength(3)
}, 120_000)
