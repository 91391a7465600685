import { expect, test } from 'vitest'
import { startPayments } from '../../../contract-tests/harness/payments.ts'

const { call, database, given } = await startPayments()
const merchant = await given.merchant()
const owner = await given.token(merchant, 'merchant_owner', `merchant:${merchant.id}`)

const made = async () => {
  const answer = await call('createApiKey', { as: owner, body: { name: 'Checkout' } })
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body
}

test('204: the next request with the key is 401; revoking again changes and audits nothing', async () => {
  const { id, key } = await made()
  expect((await call('getMe', { as: key })).status).toBe(200)
  expect((await call('revokeApiKey', { as: owner, params: { id } })).status).toBe(204)
  expect(await call('getMe', { as: key })).toMatchObject({ status: 401, body: { error: 'unauthenticated' } })
  expect((await call('revokeApiKey', { as: owner, params: { id } })).status).toBe(204)
  const rows = await database.query((sql) => sql`select from payments.audit_events where target = ${`api_key:${id}`} and action = 'payments.api_key.revoked'`)
  expect(rows).toHaveLength(1)
})

test('404: another merchant\'s key and no key at all are alike', async () => {
  const { id } = await made()
  const other = await given.merchant({ tenantId: merchant.tenantId })
  const stranger = await given.token(other, 'merchant_owner', `merchant:${other.id}`)
  const foreign = await call('revokeApiKey', { as: stranger, params: { id } })
  const absent = await call('revokeApiKey', { as: stranger, params: { id: other.id } })
  expect([foreign.status, absent.status]).toEqual([404, 404])
  expect({ ...foreign.body as object, request_id: '' }).toEqual({ ...absent.body as object, request_id: '' })
})
