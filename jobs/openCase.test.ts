import { expect, test } from 'vitest'
import { openedCase } from '../contract-tests/harness/cases.ts'
import { startPayments } from '../contract-tests/harness/payments.ts'
import { findProviderOperationByKey } from '../db/payments/providerOperations.ts'
import { openCase } from './openCase.ts'

const bench = await startPayments()
const { clock, creation, database, given } = bench
const merchant = await given.merchant()

const again = async (intentId: string, kind: 'overpayment' | 'reversal', reference: string) => database.tx(async (sql) => {
  const [key] = await sql<{ id: string }[]>`select id from payments.provider_operations where intent_id = ${intentId}`
  const operation = await findProviderOperationByKey(sql, 'simulator', key?.id ?? '')
  if (!operation) throw new Error('no operation')
  return openCase(sql, { kind, operation, reference, expectedIdr: 0, receivedIdr: 1, detail: 'Again.' }, creation, clock.now())
})

test('a proof that is repeated opens nothing twice, ten times at once, whether the case is open or resolved', async () => {
  const { id, intent_id, provider_reference } = await openedCase(bench, merchant)
  const repeat = () => again(intent_id ?? '', 'overpayment', provider_reference ?? '')
  expect(await Promise.all(Array.from({ length: 10 }, repeat))).toEqual(Array.from({ length: 10 }, () => undefined))
  await database.query((sql) => sql`update payments.cases set status = 'resolved', resolved_at = now(), resolved_by = 'user:test' where id = ${id}`)
  expect(await repeat()).toBeUndefined()
})

test('another payment, and another kind of the same payment, are cases of their own', async () => {
  const { intent_id, provider_reference } = await openedCase(bench, merchant)
  expect(await again(intent_id ?? '', 'overpayment', `${provider_reference}-3`)).toMatchObject({ status: 'open', kind: 'overpayment' })
  expect(await again(intent_id ?? '', 'reversal', provider_reference ?? '')).toMatchObject({ status: 'open', kind: 'reversal' })
})

test('a change that is rolled back leaves no case', async () => {
  const { intent_id } = await openedCase(bench, merchant)
  await expect(database.tx(async (sql) => {
    const [key] = await sql<{ id: string }[]>`select id from payments.provider_operations where intent_id = ${intent_id}`
    const operation = await findProviderOperationByKey(sql, 'simulator', key?.id ?? '')
    if (!operation) throw new Error('no operation')
    await openCase(sql, { kind: 'reversal', operation, reference: 'PSP-1', expectedIdr: null, receivedIdr: null, detail: 'Never.' }, creation, clock.now())
    throw new Error('given up')
  })).rejects.toThrow('given up')
  const rows = await database.query((sql) => sql`select from payments.cases where provider_reference = 'PSP-1'`)
  expect(rows).toHaveLength(0)
})
