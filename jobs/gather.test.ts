import { expect, test } from 'vitest'
import { gather } from './gather.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

function bench(most: number) {
  const goes: { items: readonly number[], end: () => void, fail: (error: Error) => void }[] = []
  const add = gather<number, string>({
    most,
    work: (items) => new Promise((resolve, reject) => {
      goes.push({ items, end: () => resolve(items.map((item) => `did ${item}`)), fail: reject })
    }),
  })
  return { add, goes }
}

test('the first goes at once, what comes meanwhile goes together', async () => {
  const { add, goes } = bench(10)
  const all = Promise.all([1, 2, 3, 4].map(add))
  expect(goes.map(({ items }) => items)).toEqual([[1]])
  goes[0]?.end()
  await turn()
  expect(goes.map(({ items }) => items)).toEqual([[1], [2, 3, 4]])
  goes[1]?.end()
  expect(await all).toEqual(['did 1', 'did 2', 'did 3', 'did 4'])
  void add(5)
  expect(goes.at(-1)?.items).toEqual([5])
})

test('no more go together than may', async () => {
  const { add, goes } = bench(2)
  const all = Promise.all([1, 2, 3, 4].map(add))
  for (let at = 0; at < 3; at += 1) {
    goes[at]?.end()
    await turn()
  }
  await all
  expect(goes.map(({ items }) => items)).toEqual([[1], [2, 3], [4]])
})

test('a go that fails fails its own, and the next one is made', async () => {
  const { add, goes } = bench(10)
  const [first, second] = [add(1), add(2)]
  goes[0]?.fail(new Error('lost'))
  await expect(first).rejects.toThrow('lost')
  await turn()
  goes[1]?.end()
  expect(await second).toBe('did 2')
})
