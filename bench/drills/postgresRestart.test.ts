import { randomInt } from 'node:crypto'
import { expect, test } from 'vitest'
import { postgresRestart } from './postgresRestart.ts'

test('PostgreSQL restarted under load loses no intent, charges none twice and hangs no request', async () => {
  const seed = randomInt(2 ** 31)
  const said: string[] = []
  const { failures, figures } = await postgresRestart.run({ short: true, seed, say: (line) => said.push(line) })
  expect(failures, [`seed ${seed}`, ...said, ...figures.map((figure) => figure.join(': '))].join('\n')).toEqual([])
}, 120_000)
