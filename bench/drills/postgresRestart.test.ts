import { expect, test } from 'vitest'
import { postgresRestart } from './postgresRestart.ts'
import { shortForm } from './shortForm.ts'

test('PostgreSQL restarted under load loses no intent, charges none twice and hangs no request', async () => {
  const { failures, told } = await shortForm(postgresRestart)
  expect(failures, told).toEqual([])
}, 180_000)
