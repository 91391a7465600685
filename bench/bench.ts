import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { startBenchSystem } from './benchSystem.ts'
import { measureDeliveries } from './deliveries.ts'
import { deliveriesSection } from './deliveryResults.ts'
import { listsSection } from './listResults.ts'
import { measureLists } from './lists.ts'
import { measurePayments } from './payments.ts'
import { paymentsSection } from './paymentResults.ts'
import { measurePipeline } from './pipeline.ts'
import { pipelineSection, resultsWith, startUpSection } from './results.ts'
import type { Section } from './results.ts'
import { measureScaleOut, scaleOutSection } from './scaleOut.ts'
import { soak, soakSection } from './soak.ts'
import { measureStartUp } from './startUp.ts'

/** Something to measure, by name; it answers its part of bench/results.md. */
interface Bench {
  name: string
  run(directory: string, say: (line: string) => void): Promise<Section>
}

const onSystem = async <Result>(directory: string, measure: (system: Awaited<ReturnType<typeof startBenchSystem>>) => Promise<Result>): Promise<Result> => {
  const system = await startBenchSystem(directory)
  try {
    return await measure(system)
  } finally {
    await system.stop()
  }
}

const benches: readonly Bench[] = [
  { name: 'pipeline', run: async (_, say) => pipelineSection(await measurePipeline({}, say)) },
  { name: 'start-up', run: (directory) => onSystem(directory, async (system) => startUpSection(await measureStartUp(system, directory), system.serverVersion)) },
  { name: 'payments', run: (directory, say) => onSystem(directory, async (system) => paymentsSection(await measurePayments(system, directory, say), system.serverVersion)) },
  { name: 'scale-out', run: (directory, say) => onSystem(directory, async (system) => scaleOutSection(await measureScaleOut(system, directory, say), system.serverVersion)) },
  { name: 'lists', run: async (directory, say) => listsSection(await measureLists(directory, say)) },
  { name: 'deliveries', run: async (directory, say) => deliveriesSection(await measureDeliveries(directory, say)) },
]

/** Only by name: it takes half an hour, or the minutes that are asked for. */
const soakOf = (minutes: number): Bench => ({
  name: 'soak', run: (directory, say) => onSystem(directory, async (system) => soakSection(await soak(system, directory, say, { minutes }), system.serverVersion)),
})

const resultsFile = fileURLToPath(new URL('results.md', import.meta.url))

/**
 * `make bench`: what things cost and how fast they are. `node bench/bench.ts [name ...]` measures those, NAME in the
 * environment names some too; without a name all of them but the soak, whose length --minutes gives. Prints tables and writes them to bench/results.md, where the
 * tables of what was not measured stay. Exit code 1 when a bar was missed or something could not be measured to its end.
 */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { minutes: { type: 'string', default: process.env.MINUTES ?? '30' } } })
  const names = [...positionals, ...(process.env.NAME ?? '').split(/[\s,]+/)].filter((name) => name !== '')
  const known = [...benches, soakOf(Number(values.minutes))]
  const unknown = names.filter((name) => !known.some((bench) => bench.name === name))
  if (unknown.length > 0) throw new Error(`no bench is called ${unknown.join(', ')}: ${known.map(({ name }) => name).join(', ')}`)
  if (!(Number(values.minutes) > 0)) throw new Error(`--minutes ${values.minutes} is no length of time`)
  const from = performance.now()
  const say = (line: string): void => console.log(`[${((performance.now() - from) / 1000).toFixed(0).padStart(3)} s] ${line}`)
  const outcomes: string[] = []
  for (const { name, run } of names.length === 0 ? benches : known.filter(({ name: given }) => names.includes(given))) {
    const directory = mkdtempSync(join(tmpdir(), 'bayar-bench-'))
    try {
      say(name)
      const section = await run(directory, say)
      console.log(`\n${section.text}\n`)
      // Each at once: what was measured is kept even if a later one cannot be.
      writeFileSync(resultsFile, resultsWith(existsSync(resultsFile) ? readFileSync(resultsFile, 'utf8') : '', section))
      if (!section.held) process.exitCode = 1
      outcomes.push(`${name}: ${section.held ? 'every bar held' : 'a bar was MISSED'}`)
    } catch (error) {
      // The others can be measured all the same.
      console.error(error instanceof Error ? error.stack : String(error))
      outcomes.push(`${name}: FAILED, not measured; its former table stays: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`)
      process.exitCode = 1
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  }
  console.log(outcomes.join('\n'))
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.stack : String(error))
  process.exitCode = 2
})
