import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { judgeAfterLoad } from './afterLoad.ts'
import { startBenchSystem } from './benchSystem.ts'
import type { BenchSystem } from './benchSystem.ts'
import { measureScaleOut, scaleOutSection } from './scaleOut.ts'

const directory = mkdtempSync(join(tmpdir(), 'bayar-bench-'))
let system: BenchSystem
beforeAll(async () => {
  system = await startBenchSystem(directory)
}, 60_000)
afterAll(async () => {
  await system.stop()
  rmSync(directory, { recursive: true, force: true })
})

test('one and two processes answer everything, within the connections that PostgreSQL takes, and every invariant holds after it', async () => {
  const scaled = await measureScaleOut(system, directory, () => undefined, { rounds: 1, seconds: 0.5 })
  const { rows, limit } = scaled
  expect(rows.map(({ payments, workers }) => [payments, workers])).toEqual([[1, 0], [2, 0], [2, 2]])
  for (const { warmUp, most, even, connections } of rows) {
    expect([warmUp, ...most, ...even].map(({ failures }) => failures)).toEqual([{}, {}, {}])
    expect(connections).toBeGreaterThan(0)
    expect(connections).toBeLessThan(limit)
  }
  expect(judgeAfterLoad(scaled.afterLoad).filter(({ held }) => held !== true)).toEqual([])
  expect(scaleOutSection(scaled, system.serverVersion).held).toBe(true)
}, 120_000)
