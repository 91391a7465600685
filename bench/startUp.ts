import { mkdirSync } from 'node:fs'
import type { BenchSystem } from './benchSystem.ts'
import { median } from './median.ts'
import { measureSyntheticStart } from './pipeline.ts'
import { measureStartFromNothing } from './startFromNothing.ts'

/** Seconds until ready: medians. The payments process has its database there. */
export interface StartUp {
  /** With nothing kept from an earlier start. */
  cold: number
  /** With compiled code kept, as the development run does. */
  kept: number
  /** The pipeline with the synthetic document, and what compiling it takes of that. */
  synthetic: { ready: number, compile: number }
  /** The whole development run from the sources and the installed packages alone, with a database server to make. */
  everything: number
}

const starts = 5
const startsOfEverything = 3

export async function measureStartUp(system: BenchSystem, directory: string): Promise<StartUp> {
  const time = async (more: Record<string, string>): Promise<number> => {
    const service = await system.startPayments(more)
    await service.kill()
    return service.readyMs / 1000
  }
  const cache = `${directory}/compiled`
  mkdirSync(cache, { recursive: true })
  const keeping = { NODE_COMPILE_CACHE: cache }
  // Node writes what it keeps when a process ends by itself, so the first start is one that ends so.
  const first = await system.startPayments(keeping)
  await first.end()
  const times: { cold: number[], kept: number[] } = { cold: [], kept: [] }
  for (let start = 0; start < starts; start += 1) {
    times.cold.push(await time({}))
    times.kept.push(await time(keeping))
  }
  return {
    cold: median(times.cold), kept: median(times.kept), synthetic: await measureSyntheticStart(starts),
    everything: median(await measureStartFromNothing(startsOfEverything)),
  }
}
