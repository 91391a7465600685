import { expect, test } from 'vitest'
import { pool } from './pool.ts'
import { shortForm } from './shortForm.ts'

test('a hundred callers on ten connections wait for a bounded time, and are served once the lock is gone', async () => {
  const { failures, told } = await shortForm(pool)
  expect(failures, told).toEqual([])
}, 180_000)
