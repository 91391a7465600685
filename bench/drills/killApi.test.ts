import { randomInt } from 'node:crypto'
import { expect, test } from 'vitest'
import { killApi } from './killApi.ts'

test('a payments process killed under load loses no intent and charges none twice', async () => {
  const seed = randomInt(2 ** 31)
  const said: string[] = []
  const { failures, figures } = await killApi.run({ short: true, seed, say: (line) => said.push(line) })
  expect(failures, [`seed ${seed}`, ...said, ...figures.map((figure) => figure.join(': '))].join('\n')).toEqual([])
}, 120_000)
