import { expect, test } from 'vitest'
import { postgresStop } from './postgresRestart.ts'
import { shortForm } from './shortForm.ts'

test('PostgreSQL gone for 3 s loses no intent, and service is back within 5 s', async () => {
  const { failures, told } = await shortForm(postgresStop)
  expect(failures, told).toEqual([])
}, 180_000)
