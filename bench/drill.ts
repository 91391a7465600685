import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { backends } from './drills/backends.ts'
import type { Drill, DrillReport } from './drills/drill.ts'
import { killApi } from './drills/killApi.ts'
import { pool } from './drills/pool.ts'
import { postgresRestart, postgresStop } from './drills/postgresRestart.ts'
import { races } from './drills/races.ts'
import { rollingRestart } from './drills/rollingRestart.ts'
import { slowNetwork } from './drills/slowNetwork.ts'
import { webhooks } from './drills/webhooks.ts'

const drills: readonly Drill[] = [postgresRestart, postgresStop, killApi, backends, pool, races, rollingRestart, slowNetwork, webhooks]

/**
 * Runs drills: `node bench/drill.ts [name ...] [--short] [--seed n] [--list]`; without a name all of them, one after
 * the other. NAME in the environment names one too. Exit code 1 when something did not hold.
 */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      short: { type: 'boolean', default: false }, list: { type: 'boolean', default: false }, seed: { type: 'string' },
    },
  })
  if (values.list) {
    for (const { name, about } of drills) console.log(`${name.padEnd(20)} ${about}`)
    return
  }
  const seed = readSeed(values.seed)
  const names = [...positionals, ...(process.env.NAME ?? '').split(/[\s,]+/)].filter((name) => name !== '')
  const outcomes: { name: string, passed: boolean, seconds: number }[] = []
  for (const drill of chosen(names)) {
    console.log(`${drill.name}: ${drill.about}${values.short ? ' (the short form)' : ''}; seed ${seed}`)
    const began = performance.now()
    const seconds = (): number => (performance.now() - began) / 1000
    const say = (line: string): void => console.log(`  [${seconds().toFixed(1).padStart(5)} s] ${line}`)
    const report = await drill.run({ short: values.short, seed, say })
    outcomes.push({ name: drill.name, passed: report.failures.length === 0, seconds: seconds() })
    console.log(describeReport(report))
  }
  const failed = outcomes.filter(({ passed }) => !passed)
  console.log('')
  for (const { name, passed, seconds } of outcomes) {
    console.log(`${passed ? 'PASS' : 'FAIL'}  ${name.padEnd(20)} ${seconds.toFixed(0)} s`)
  }
  const again = failed.map(({ name }) => name).join(' ')
  const form = values.short ? ' --short' : ''
  if (again !== '') console.log(`to repeat: node bench/drill.ts ${again}${form} --seed ${seed}`)
  process.exitCode = failed.length === 0 ? 0 : 1
}

function readSeed(text: string | undefined): number {
  if (text === undefined) return randomInt(2 ** 31)
  if (!/^\d{1,10}$/.test(text)) throw new Error(`--seed ${text} is no whole number`)
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
