// `make bench`: what the pipeline costs, how long a start takes, how fast payments are. Prints tables and writes bench/results.md.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startBenchSystem } from './benchSystem.ts'
import { measurePayments } from './payments.ts'
import { measurePipeline } from './pipeline.ts'
import { results } from './results.ts'
import { measureStartUp } from './startUp.ts'

const directory = mkdtempSync(join(tmpdir(), 'bayar-bench-'))
const from = performance.now()
const say = (line: string): void => console.log(`[${((performance.now() - from) / 1000).toFixed(0).padStart(3)} s] ${line}`)
try {
  say('the pipeline with 330 operations, in turn with bare servers')
  const pipeline = await measurePipeline({}, say)
  say('starting PostgreSQL')
  const system = await startBenchSystem(directory)
  try {
    say('start-up of the payments process')
    const startUp = await measureStartUp(system, directory)
    say('payments with 16 connections')
    const payments = await measurePayments(system, say)
    const [processor] = cpus()
    const { text, failed } = results({
      machine: `${cpus().length} x ${processor?.model.trim() ?? 'unknown processor'}, ${(totalmem() / 2 ** 30).toFixed(0)} GiB`,
      versions: `Node ${process.versions.node}, PostgreSQL ${system.serverVersion}`, date: new Date().toISOString().slice(0, 10), pipeline, startUp, payments,
    })
    writeFileSync(fileURLToPath(new URL('results.md', import.meta.url)), text)
    console.log(`\n${text}`)
    process.exitCode = failed ? 1 : 0
  } finally {
    await system.stop()
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}
