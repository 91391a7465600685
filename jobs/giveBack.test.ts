import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { startPayments } from '../contract-tests/harness/payments.ts'
import { takeOverProviderOperation } from '../db/payments/providerOperations.ts'
import type { ProviderOperationRow } from '../db/payments/providerOperations.ts'
import { DatabaseUnavailable } from '../db/sql.ts'
import type { Database } from '../db/sql.ts'
import { finishCreation } from './chargeCreation.ts'
import { giveBack } from './giveBack.ts'

const { call, creation, database, given, simulator } = await startPayments({ settings: { PROVIDER_TIMEOUT_MS: '250' } })
const merchant = await given.merchant()
const as = await given.apiKey(merchant)

/** A creation that this test holds the lease of, with the request that made it. */
const held = async () => {
  const key = randomUUID()
  const body = { amount_idr: 150_000, allowed_channels: ['va_bank_a'], reference_id: key }
  await simulator.next('time-out-before-charging', { merchant_reference: key })
  expect((await call('createPaymentIntent', { as, body, key })).status).toBe(503)
  const [row] = await database.query((sql) => sql<{ id: string }[]>`
    select id from payments.provider_operations where idempotency_key = ${key}`)
  const { id, tenantId } = merchant
  const operation = await database.query((sql) =>
    takeOverProviderOperation(sql, tenantId, id, row?.id ?? '', randomUUID()))
  if (!operation) throw new Error('the lease had not been given back')
  return { operation, retry: () => call('createPaymentIntent', { as, body, key }) }
}

const leaseLapsed = async ({ id }: ProviderOperationRow): Promise<boolean | undefined> => {
  const [row] = await database.query((sql) => sql<{ lapsed: boolean }[]>`
    select lease_until < now() as lapsed from payments.provider_operations where id = ${id}`)
  return row?.lapsed
}

/** A database that is away for its first calls; `answered` resolves after the first one that got through. */
const awayFor = (calls: number, reason: 'connect' | 'closed' = 'connect') => {
  const answered = Promise.withResolvers<void>()
  let left = calls
  const query: Database['query'] = async (work) => {
    if (left > 0) {
      left -= 1
      throw new DatabaseUnavailable(reason)
    }
    const result = await database.query(work)
    answered.resolve()
    return result
  }
  const tx: Database['tx'] = () => Promise.reject(new DatabaseUnavailable('lost'))
  return { database: { ...database, query, tx }, answered: answered.promise, left: () => left }
}

const atOnce = { ...creation.runtime, sleep: async () => undefined }

describe('a creation that loses the database', () => {
  test('gives its lease back once the database is there again, so that the retry finishes it at once', async () => {
    const { operation, retry } = await held()
    const away = awayFor(3)
    const settings = { ...creation, database: away.database, runtime: atOnce }
    await expect(finishCreation(operation, false, settings)).rejects.toThrow('lost')
    await away.answered
    expect(await leaseLapsed(operation)).toBe(true)
    expect((await retry()).status).toBe(201)
  })

  test('leaves the lease to whoever has taken it over', async () => {
    const { operation } = await held()
    await database.query((sql) => sql`
      update payments.provider_operations set lease_token = ${randomUUID()} where id = ${operation.id}`)
    await giveBack(operation, { ...creation, runtime: atOnce })
    expect(await leaseLapsed(operation)).toBe(false)
  })

  test('stops asking when the process ends', async () => {
    const { operation } = await held()
    const away = awayFor(5, 'closed')
    await giveBack(operation, { ...creation, database: away.database, runtime: atOnce })
    expect(away.left()).toBe(4)
    expect(await leaseLapsed(operation)).toBe(false)
  })
})
