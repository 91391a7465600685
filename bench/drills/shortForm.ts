import { randomInt } from 'node:crypto'
import { repeating } from './drill.ts'
import type { Drill } from './drill.ts'

/** Runs the short form of a drill with a new seed; `told` is all of it for who has to look into a failure. */
export async function shortForm(drill: Drill): Promise<{ failures: readonly string[], told: string }> {
  const seed = randomInt(2 ** 31)
  const said: string[] = []
  const { failures, figures } = await drill.run({ short: true, seed, say: (line) => said.push(line) })
  return { failures, told: [`to repeat: ${repeating([drill.name], true, seed)}`, ...said, ...figures.map((figure) => figure.join(': '))].join('\n') }
}
