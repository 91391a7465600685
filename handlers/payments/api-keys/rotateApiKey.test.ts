import { expect, test } from 'vitest'
import { startPayments } from '../../../contract-tests/harness/payments.ts'

const { call, clock, given } = await startPayments()
const merchant = await given.merchant()
const owner = await given.token(merchant, 'merchant_owner', `merchant:${merchant.id}`, { expiresIn: 864_000 })

const made = async (body: object = {}) => {
  const answer = await call('createApiKey', { as: owner, body: { name: 'Checkout', scopes: ['payments.payment_intent.read'], ...body } })
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body
}
const works = async (key: string) => (await call('getMe', { as: key })).status === 200

test('201: the new key has name, scopes and merchant of the old one, which lives on for 30 minutes', async () => {
  const old = await made()
  const answer = await call('rotateApiKey', { as: owner, params: { id: old.id } })
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  expect(answer.body).toMatchObject({ name: 'Checkout', scopes: ['payments.payment_intent.read'], merchant_id: merchant.id })
  expect(answer.body.id).not.toBe(old.id)
  expect([await works(old.key), await works(answer.body.key)]).toEqual([true, true])
  clock.advance(30 * 60_000 + 1)
  expect([await works(old.key), await works(answer.body.key)]).toEqual([false, true])
})

test('201: without overlap the old key ends at once; an earlier end is not put off', async () => {
  const old = await made()
  expect((await call('rotateApiKey', { as: owner, params: { id: old.id }, body: { overlap_minutes: 0 } })).status).toBe(201)
  expect(await works(old.key)).toBe(false)
  const ending = await made({ expires_at: new Date(clock.now().getTime() + 60_000).toISOString() })
  await call('rotateApiKey', { as: owner, params: { id: ending.id }, body: { overlap_minutes: 1440 } })
  clock.advance(60_001)
  expect(await works(ending.key)).toBe(false)
})

test('400: an overlap over a day names the field', async () => {
  const { id } = await made()
  expect(await call('rotateApiKey', { as: owner, params: { id }, body: { overlap_minutes: 1441 } }))
    .toMatchObject({ status: 400, body: { fields: { overlap_minutes: 'must be at most 1440' } } })
})

test('403: a rotation grants no scope that the caller does not hold', async () => {
  const { id } = await made({ scopes: ['payments.refund.create'] })
  const support = await given.token(merchant, 'merchant_support', `merchant:${merchant.id}`, { expiresIn: 864_000 })
  expect(await call('rotateApiKey', { as: support, params: { id } })).toMatchObject({ status: 403, body: { error: 'forbidden' } })
})

test('404: an unknown key', async () => {
  expect((await call('rotateApiKey', { as: owner, params: { id: merchant.id } })).status).toBe(404)
})

test('409: a key that is revoked or has ended says so', async () => {
  const revoked = await made()
  await call('revokeApiKey', { as: owner, params: { id: revoked.id } })
  expect(await call('rotateApiKey', { as: owner, params: { id: revoked.id } })).toMatchObject({ status: 409, body: { error: 'invalid_state', message: 'The key is revoked.' } })
  const ended = await made({ expires_at: new Date(clock.now().getTime() + 1000).toISOString() })
  clock.advance(1001)
  expect(await call('rotateApiKey', { as: owner, params: { id: ended.id } })).toMatchObject({ status: 409, body: { message: 'The key has ended.' } })
})
