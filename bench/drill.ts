import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { backends } from './drills/backends.ts'
import { repeating } from './drills/drill.ts'
import type { Drill, DrillReport } from './drills/drill.ts'
import { killApi } from './drills/killApi.ts'
import { pool } from './drills/pool.ts'
import { postgresRestart, postgresStop } from './drills/postgresRestart.ts'
import { races } from './drills/races.ts'
import { rollingRestart } from './drills/rollingRestart.ts'
import { slowNetwork } from './drills/slowNetwork.ts'
import { webhooks } from './drills/webhooks.ts'
import { within } from './drills/within.ts'

const drills: readonly Drill[] = [postgresRestart, postgresStop, killApi, backends, pool, races, rollingRestart, slowNetwork, webhooks]

/** All of them, one after the other, take no longer (the long form). */
const totalAtMostSeconds = 15 * 60
/** No drill takes as long: one that does hangs. */
const drillAtMostMs = 10 * 60_000

interface Outcome {
  name: string
  passed: boolean
  seconds: number
}

/**
 * Runs drills: `node bench/drill.ts [name ...] [--short] [--seed n] [--list]`; without a name all of them, one after
 * the other. NAME, SHORT and SEED in the environment say the same. Exit code 1 when something did not hold.
 */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      short: { type: 'boolean', default: (process.env.SHORT ?? '') !== '' }, list: { type: 'boolean', default: false },
      seed: { type: 'string', default: process.env.SEED ?? '' },
    },
  })
  if (values.list) {
    for (const { name, about } of drills) console.log(`${name.padEnd(20)} ${about}`)
    return
  }
  const { short } = values
  const seed = readSeed(values.seed)
  const names = [...positionals, ...(process.env.NAME ?? '').split(/[\s,]+/)].filter((name) => name !== '')
  const outcomes: Outcome[] = []
  for (const drill of chosen(names)) {
    const outcome = await runDrill(drill, short, seed)
    outcomes.push(outcome)
    // What hangs holds on to its processes, in whose way the others would be.
    if (outcome.seconds * 1000 >= drillAtMostMs) break
  }
  // Not by itself: what hangs, or was broken off, may go on for ever, and holds its processes as long.
  process.exit(summarise(outcomes, chosen(names), short, seed) ? 0 : 1)
}

/** Runs one drill and says what it found. What it throws is a failure of it, as is never coming to an end. */
async function runDrill(drill: Drill, short: boolean, seed: number): Promise<Outcome> {
  console.log(`${drill.name}: ${drill.about}${short ? ' (the short form)' : ''}; seed ${seed}`)
  const began = performance.now()
  const seconds = (): number => (performance.now() - began) / 1000
  const say = (line: string): void => console.log(`  [${seconds().toFixed(1).padStart(5)} s] ${line}`)
  const late: DrillReport = { figures: [], failures: [`it has not come to an end after ${drillAtMostMs / 60_000} minutes`] }
  const report = await within(drillAtMostMs, drill.run({ short, seed, say }), late).catch((error: unknown): DrillReport =>
    ({ figures: [], failures: [`it was broken off: ${error instanceof Error ? error.stack : String(error)}`] }))
  console.log(describeReport(report))
  return { name: drill.name, passed: report.failures.length === 0, seconds: seconds() }
}

/** Says how each drill ended, how long all took, and how to repeat those that failed. True when everything held. */
function summarise(outcomes: readonly Outcome[], asked: readonly Drill[], short: boolean, seed: number): boolean {
  console.log('')
  for (const { name, passed, seconds } of outcomes) {
    console.log(`${passed ? 'PASS' : 'FAIL'}  ${name.padEnd(20)} ${seconds.toFixed(0)} s`)
  }
  const unrun = asked.filter(({ name }) => !outcomes.some((outcome) => outcome.name === name)).map(({ name }) => name)
  for (const name of unrun) console.log(`FAIL  ${name.padEnd(20)} not run`)
  const total = outcomes.reduce((sum, { seconds }) => sum + seconds, 0)
  const isJudged = !short && asked.length === drills.length
  const isInTime = !isJudged || total <= totalAtMostSeconds
  console.log(`${isInTime ? '    ' : 'FAIL'}  ${'all of it'.padEnd(20)} ${total.toFixed(0)} s${isJudged ? `, of at most ${totalAtMostSeconds} s` : ''}`)
  const failed = [...outcomes.filter(({ passed }) => !passed).map(({ name }) => name), ...unrun]
  if (failed.length > 0) console.log(`to repeat: ${repeating(failed, short, seed)}`)
  return failed.length === 0 && isInTime
}

function readSeed(text: string): number {
  if (text === '') return randomInt(2 ** 31)
  if (!/^\d{1,10}$/.test(text)) throw new Error(`the seed ${text} is no whole number`)
  return Number(text)
}

function chosen(names: readonly string[]): readonly Drill[] {
  if (names.length === 0) return drills
  return names.map((name) => {
    const drill = drills.find((candidate) => candidate.name === name)
    if (!drill) throw new Error(`no drill is called ${name}: ${drills.map((known) => known.name).join(', ')}`)
    return drill
  })
}

function describeReport({ figures, failures }: DrillReport): string {
  const lines = figures.map(([name, value]) => `  ${name.padEnd(40)} ${value}`)
  return [...lines, ...failures.map((failure) => `  FAIL: ${failure}`)].join('\n')
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.stack : String(error))
  process.exitCode = 2
})
