import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { openedCase } from '../../../contract-tests/harness/cases.ts'
import { startPayments } from '../../../contract-tests/harness/payments.ts'

const bench = await startPayments()
const { call, clock, database, given, send } = bench
const merchant = await given.merchant()
const subject = randomUUID()
const owner = await given.token(merchant, 'merchant_owner', `merchant:${merchant.id}`, { subject })
const resolve = (id: string, note: string, as = owner) => call('transitionCase', { as, params: { id }, body: { status: 'resolved', note } })
const opened = async () => (await openedCase(bench, merchant)).id
const audits = (id: string) => database.query((sql) => sql<{ action: string, actor: string, changed_keys: string[] }[]>`
  select action, actor, changed_keys from payments.audit_events where target = ${`case:${id}`} order by created_at`)

describe('200', () => {
  test('resolved, with who did it and when, and one row in the audit log that holds no value', async () => {
    const id = await opened()
    clock.advance(60_000)
    const answer = await resolve(id, 'Paid back to the payer.')
    expect(answer).toMatchObject({
      status: 200,
      body: { id, status: 'resolved', note: 'Paid back to the payer.', resolved_at: clock.now().toISOString(), resolved_by: `user:${subject}`, transitions: [] },
    })
    expect((await call('getCase', { as: owner, params: { id } })).body).toEqual(answer.body)
    expect(await audits(id)).toMatchObject([{ action: 'payments.case.resolved', changed_keys: ['status', 'note'] }])
  })

  test('the same again answers it as it is, by whomever, and leaves no second audit row', async () => {
    const id = await opened()
    const first = await resolve(id, 'Paid back.')
    clock.advance(60_000)
    const support = await given.token(merchant, 'merchant_support', `merchant:${merchant.id}`)
    expect(await resolve(id, 'Paid back.', support)).toMatchObject({ status: 200, body: first.body })
    expect(await audits(id)).toHaveLength(1)
  })

  test('merchant_support may resolve', async () => {
    const id = await opened()
    expect(await resolve(id, 'Looked into.', await given.token(merchant, 'merchant_support', `merchant:${merchant.id}`))).toMatchObject({ status: 200 })
  })

  test('of ten at once with different notes one resolves it', async () => {
    const id = await opened()
    const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => resolve(id, `Note ${n}`)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 409)])
    expect(await call('getCase', { as: owner, params: { id } })).toMatchObject({ body: { note: `Note ${answers.findIndex(({ status }) => status === 200)}` } })
    expect(await audits(id)).toHaveLength(1)
  })
})

test('409 invalid_state: resolved before, with another note, which stays', async () => {
  const id = await opened()
  await resolve(id, 'Paid back.')
  expect(await resolve(id, 'Kept.')).toMatchObject({ status: 409, body: { error: 'invalid_state', message: expect.stringContaining('resolved') as string } })
  expect(await call('getCase', { as: owner, params: { id } })).toMatchObject({ body: { note: 'Paid back.' } })
})

test.each([
  [{}, 'status'], [{ status: 'resolved' }, 'note'], [{ status: 'resolved', note: '' }, 'note'], [{ status: 'resolved', note: ' \n ' }, 'note'],
  [{ status: 'resolved', note: 'x'.repeat(1001) }, 'note'], [{ status: 'open', note: 'Again.' }, 'status'], [{ status: 'resolved', note: 'x', by: 'me' }, 'by'],
])('400 validation_failed: %j names %s', async (body, field) => {
  const id = await opened()
  const answer = await send('transitionCase', { as: owner, params: { id }, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) })
  expect(answer).toMatchObject({ status: 400, body: { error: 'validation_failed', fields: { [field]: expect.any(String) as string } } })
  expect(await call('getCase', { as: owner, params: { id } })).toMatchObject({ body: { status: 'open' } })
})

test('403: a role without payments.case.write', async () => {
  const id = await opened()
  expect((await resolve(id, 'x', await given.token(merchant, 'merchant_pos_manager', `merchant:${merchant.id}`))).status).toBe(403)
})

test('404: unknown, and of another merchant, which stays open', async () => {
  const sibling = await given.merchant({ tenantId: merchant.tenantId })
  const { id } = await openedCase(bench, sibling)
  for (const unknown of [id, randomUUID()]) expect(await resolve(unknown, 'x')).toMatchObject({ status: 404, body: { error: 'not_found' } })
  const as = await given.token(sibling, 'merchant_owner', `merchant:${sibling.id}`)
  expect(await call('getCase', { as, params: { id } })).toMatchObject({ body: { status: 'open' } })
})
