// The documents against the running services: Dredd, Prism before the services, Prism in their place, generated clients.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inWords, sum } from '../run/steps.ts'
import { clients } from './contract/clients.ts'
import { dredd } from './contract/dredd.ts'
import { mock } from './contract/mock.ts'
import { proxy } from './contract/proxy.ts'
import { startSystem } from './contract/system.ts'
import type { RunningSystem } from './contract/system.ts'
import { suite } from './contract/tally.ts'
import type { Tally } from './contract/tally.ts'

const directory = mkdtempSync(join(tmpdir(), 'bayar-contract-'))
const from = performance.now()
const steps: string[] = []
let system: RunningSystem | undefined
const counts = await (async () => {
  console.log('    starting the system')
  // The mock needs no service: it runs while they start.
  const mocked = suite('prism mock', mock)
  const started = startSystem((line) => steps.push(line))
  const running = (work: (system: RunningSystem, tally: Tally) => Promise<void>) => async (tally: Tally) => {
    system = await started
    await work(system, tally)
  }
  const first = await suite('dredd', running((own, tally) => dredd(own, directory, tally)))
  const rest = [
    await suite('prism proxy', running((own, tally) => proxy(own, tally))),
    await suite('generated clients', running((own, tally) => clients(own, directory, tally))),
  ]
  return sum([await mocked, first, ...rest])
})().finally(async () => {
  if (!system) console.log(steps.map((line) => `    ${line}`).join('\n'))
  await system?.stop()
  rmSync(directory, { recursive: true, force: true })
})
console.log(`    the contract took ${((performance.now() - from) / 1000).toFixed(0)} s`)
console.log(inWords(counts))
process.exitCode = counts.failed > 0 ? 1 : 0
