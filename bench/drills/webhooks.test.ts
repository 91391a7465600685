import { randomInt } from 'node:crypto'
import { expect, test } from 'vitest'
import { webhooks } from './webhooks.ts'

test('webhooks lose nothing: receivers of every kind, killed workers, PostgreSQL stopped, the queue dropped, a slow neighbour', async () => {
  const seed = randomInt(2 ** 31)
  const said: string[] = []
  const { failures, figures } = await webhooks.run({ short: true, seed, say: (line) => said.push(line) })
  expect(failures, [`seed ${seed}`, ...said, ...figures.map((figure) => figure.join(': '))].join('\n')).toEqual([])
}, 180_000)
