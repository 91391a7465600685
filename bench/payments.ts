import type { ServiceProcess } from '../contract-tests/harness/serviceProcess.ts'
import type { Database } from '../db/sql.ts'
import { benchConnections } from './benchSystem.ts'
import type { BenchSystem } from './benchSystem.ts'
import { median } from './median.ts'
import { startLoadGenerator } from './openLoad.ts'
import type { LoadGenerator, LoadReport } from './openLoad.ts'
import { recordFlows } from './paymentFlows.ts'
import type { FlowName, RecordedFlow } from './paymentFlows.ts'
import { throughDriver } from './references/driver.ts'
import { PgbenchCannotRun, findPgbench, parameterTypes, pgbenchFile, runPgbench } from './references/pgbench.ts'
import { cpuSeconds } from './webhooks/cpu.ts'
import { sizeOf } from './references/script.ts'
import type { Script } from './references/script.ts'
import { settle } from './settle.ts'

export interface OperationSpeed {
  name: FlowName
  /** What warms the process up: not measured, but nothing of it may fail either. */
  warmUp: LoadReport
  /** Over HTTP, as fast as it is answered, and then evenly at half of that. */
  service: readonly LoadReport[]
  half: readonly LoadReport[]
  halfRate: number
  /** The statements of a request straight through the driver, runs a second. */
  driver: readonly number[]
  /** The same through pgbench; none where it cannot be run. */
  pgbench: readonly number[]
  /** pgbench with the last statement alone, for an operation that only reads. */
  pointSelect: readonly number[]
  /** CPU microseconds a request: of the service, of PostgreSQL; of PostgreSQL for a run through pgbench. Medians; null where that cannot be read. */
  cpu: Record<'service' | 'server' | 'reference', number | null>
  /** Of a request: statements, and waits for the server. */
  size: { statements: number, flights: number }
}

export interface PaymentsSpeed {
  operations: readonly OperationSpeed[]
  /** Why nothing is compared with pgbench; null where it is. */
  notCompared: string | null
}

export interface PaymentsOptions {
  rounds?: number
  /** Length of each run. */
  seconds?: number
}

/** Measures a payments process with 16 connections, and the statements it was seen to send through the driver and pgbench, in turn. */
export async function measurePayments(
  system: BenchSystem, directory: string, say: (line: string) => void, { rounds = 3, seconds = 4 }: PaymentsOptions = {},
): Promise<PaymentsSpeed> {
  const flows = await recordFlows(system)
  const program = findPgbench()
  const service = await system.startPayments({ DATABASE_CONNECTIONS: String(benchConnections) })
  const generator = startLoadGenerator()
  let round = 10
  let notCompared = program ? null : 'pgbench is not installed'
  const throughPgbench = async (script: Script, database: Database): Promise<number[]> => {
    if (!program || notCompared !== null) return []
    const file = pgbenchFile(script, await parameterTypes(database, script))
    try {
      return [await runPgbench(file, { program, url: system.databaseUrl, directory, clients: benchConnections, seconds, round: round++ })]
    } catch (error) {
      if (!(error instanceof PgbenchCannotRun)) throw error
      notCompared = error.message
      say(`not compared: ${notCompared}`)
      return []
    }
  }
  try {
    const operations: OperationSpeed[] = []
    for (const flow of flows) {
      operations.push(await measure(flow, { service, generator, system, rounds, seconds, throughPgbench }))
      say(describe(operations.at(-1) as OperationSpeed))
    }
    // Runs that came before it could not be run any more are no comparison of the whole.
    const compared = notCompared === null ? operations : operations.map((operation) => ({ ...operation, pgbench: [], pointSelect: [] }))
    return { operations: compared, notCompared }
  } finally {
    generator.stop()
    await service.kill()
  }
}

interface Means {
  service: ServiceProcess
  generator: LoadGenerator
  system: BenchSystem
  rounds: number
  seconds: number
  throughPgbench(script: Script, database: Database): Promise<number[]>
}

async function measure(flow: RecordedFlow, { service, generator, system, rounds, seconds, throughPgbench }: Means): Promise<OperationSpeed> {
  const { name, script } = flow
  const order = { ...flow, urls: [service.url], seconds }
  const speed = {
    name, size: sizeOf(script), service: [] as LoadReport[], half: [] as LoadReport[], driver: [] as number[], pgbench: [] as number[], pointSelect: [] as number[],
  }
  const cpu = { service: [] as number[], server: [] as number[], reference: [] as number[] }
  const meter = (into: number[], pid: number, count: () => number): () => void => {
    const before = cpuSeconds(pid)
    return () => {
      const after = cpuSeconds(pid)
      if (before !== null && after !== null) into.push((after - before) / count() * 1e6)
    }
  }
  const database = system.connect()
  const work = throughDriver(script)
  try {
    const warmUp = await generator.send({ ...order, pace: { atATime: benchConnections } })
    await repeatedly(() => work(database), seconds / 2)
    await settle(database)
    for (let round = 0; round < rounds; round += 1) {
      const served = (): number => speed.service.at(-1)?.answered ?? Number.NaN
      const meters = [meter(cpu.service, service.pid, served), meter(cpu.server, system.postgresPid, served)]
      speed.service.push(await generator.send({ ...order, pace: { atATime: benchConnections } }))
      meters.forEach((read) => read())
      speed.driver.push(await repeatedly(() => work(database), seconds))
      const readReference = meter(cpu.reference, system.postgresPid, () => (speed.pgbench.at(-1) ?? Number.NaN) * seconds)
      speed.pgbench.push(...await throughPgbench(script, database))
      readReference()
      if (name === 'getPaymentIntent') speed.pointSelect.push(...await throughPgbench({ ...script, statements: script.statements.slice(-1) }, database))
    }
    await settle(database)
    const halfRate = median(speed.service.map(({ perSecond }) => perSecond)) / 2
    for (let round = 0; round < rounds; round += 1) speed.half.push(await generator.send({ ...order, pace: { perSecond: halfRate } }))
    const middle = (values: readonly number[]): number | null => values.some(Number.isFinite) ? median(values.filter(Number.isFinite)) : null
    return { ...speed, warmUp, halfRate, cpu: { service: middle(cpu.service), server: middle(cpu.server), reference: middle(cpu.reference) } }
  } finally {
    await database.end()
  }
}

/** Works a second, as many at a time as there are connections. */
async function repeatedly(work: () => Promise<void>, seconds: number): Promise<number> {
  const from = performance.now()
  let done = 0
  await Promise.all(Array.from({ length: benchConnections }, async () => {
    while (performance.now() - from < seconds * 1000) {
      await work()
      done += 1
    }
  }))
  return done / (performance.now() - from) * 1000
}

function describe({ name, service, driver, pgbench, half }: OperationSpeed): string {
  const rate = (values: readonly number[]): string => values.length === 0 ? 'not compared' : median(values).toFixed(0)
  return `${name}: ${rate(service.map(({ perSecond }) => perSecond))} requests/s, driver ${rate(driver)}, pgbench ${rate(pgbench)}; ` +
    `p99 at half ${median(half.map(({ p99 }) => p99)).toFixed(0)} ms`
}
