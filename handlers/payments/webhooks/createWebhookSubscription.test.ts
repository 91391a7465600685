import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { startPayments } from '../../../contract-tests/harness/payments.ts'
import { sealingKeys } from '../../../domain/sealing.ts'

const bench = await startPayments()
const { call, clock, configuration, database, given, logged, send } = bench
const merchant = await given.merchant()
const as = await given.token(merchant, 'merchant_owner', `merchant:${merchant.id}`)
const hook = { url: 'https://shop.example/webhooks', events: ['payment.completed', 'payment.refunded'] }

const created = async (body: typeof hook & { description?: string | null, merchant_id?: string }, token = as) => {
  const answer = await call('createWebhookSubscription', { as: token, body })
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body
}

describe('201', () => {
  test('the subscription is active, has a secret, and is listed without it', async () => {
    const { secret, ...view } = await created({ ...hook, description: 'Order system' })
    expect(view).toEqual({
      id: view.id, merchant_id: merchant.id, ...hook, description: 'Order system', active: true, disabled_at: null, disabled_reason: null,
      last_success_at: null, previous_secret_expires_at: null, created_at: clock.now().toISOString(),
    })
    expect(secret).toMatch(/^whsec_[0-9A-Za-z]{43}$/)
    const read = await call('getWebhookSubscription', { as, params: { id: view.id } })
    expect(read.body).toEqual(view)
  })

  test('the secret is stored sealed, bound to its row, and is in no log', async () => {
    const { id, secret } = await created(hook)
    const [row] = await database.query((sql) => sql<{ secret: Buffer }[]>`select secret from payments.webhook_subscriptions where id = ${id}`)
    if (!row) throw new Error('no row')
    expect(row.secret.includes(secret)).toBe(false)
    const keys = sealingKeys(configuration.SEALING_KEYS)
    expect(keys.open(row.secret, `webhook_subscriptions:secret:${id}`).toString()).toBe(secret)
    expect(() => keys.open(row.secret, `webhook_subscriptions:secret:${randomUUID()}`)).toThrow()
    expect(logged.join('')).not.toContain(secret)
  })

  test('the audit log says who made it, and no value', async () => {
    const { id } = await created(hook)
    const [row] = await database.query((sql) => sql`select * from payments.audit_events where target = ${`webhook_subscription:${id}`}`)
    expect(row).toMatchObject({ merchant_id: merchant.id, action: 'payments.webhook_subscription.created', changed_keys: ['url', 'events', 'description'] })
    expect(JSON.stringify(row)).not.toContain('shop.example')
  })

  test('a tenant-wide caller names the merchant', async () => {
    const token = await given.token(merchant, 'tenant_admin', '*')
    expect(await created({ ...hook, merchant_id: merchant.id }, token)).toMatchObject({ merchant_id: merchant.id })
  })
})

describe('400 validation_failed', () => {
  test.each([
    'http://shop.example/hook', 'ftp://shop.example', 'shop.example', 'https://', 'https://user:pass@shop.example', 'https://127.0.0.1/hook', 'https://10.0.0.1',
    'https://[::1]/hook', 'https://169.254.169.254/latest', 'https://2130706433/', 'https://[::ffff:10.0.0.1]/', 'javascript:alert(1)',
  ])('the url %s is refused, naming url', async (url) => {
    const answer = await call('createWebhookSubscription', { as, body: { ...hook, url } })
    expect(answer).toMatchObject({ status: 400, body: { error: 'validation_failed', fields: { url: expect.any(String) as string } } })
  })

  test.each([['payment.reversed'], ['*'], ['webhook.test'], ['payment.completed', 'payment.']])('unknown event kinds %j are named', async (...events) => {
    const answer = await call('createWebhookSubscription', { as, body: { ...hook, events } })
    expect(answer).toMatchObject({ status: 400, body: { error: 'validation_failed', fields: { events: `unknown: ${events.at(-1) ?? ''}` } } })
  })

  test.each([{ url: hook.url }, { events: hook.events }, { ...hook, events: [] }, { ...hook, events: ['payment.completed', 'payment.completed'] }, { ...hook, secret: 'mine' }, { ...hook, active: true }])(
    'the body %j is refused', async (body) => {
      const answer = await send('createWebhookSubscription', { as, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) })
      expect(answer).toMatchObject({ status: 400, body: { error: 'validation_failed' } })
    })

  test('a caller with several merchants must say which', async () => {
    const sibling = await given.merchant({ tenantId: merchant.tenantId })
    const token = await given.token(merchant, 'tenant_admin', '*')
    expect(await call('createWebhookSubscription', { as: token, body: hook })).toMatchObject({ status: 400, body: { fields: { merchant_id: expect.any(String) as string } } })
    expect(await created({ ...hook, merchant_id: sibling.id }, token)).toMatchObject({ merchant_id: sibling.id })
  })
})

test('404 not_found: the merchant named is not within reach', async () => {
  const other = await given.merchant()
  expect(await call('createWebhookSubscription', { as, body: { ...hook, merchant_id: other.id } })).toMatchObject({ status: 404, body: { error: 'not_found' } })
})

test('401 and 403: no credential, an API key, a role without the permission', async () => {
  expect((await call('createWebhookSubscription', { body: hook })).status).toBe(401)
  expect((await call('createWebhookSubscription', { as: await given.apiKey(merchant), body: hook })).status).toBe(403)
  const support = await given.token(merchant, 'merchant_support', `merchant:${merchant.id}`)
  expect(await call('createWebhookSubscription', { as: support, body: hook })).toMatchObject({ status: 403, body: { error: 'forbidden' } })
})

describe('409 invalid_state', () => {
  test('a merchant has at most 50 subscriptions, however many are made at once; one that is deleted makes room', async () => {
    const owner = await given.merchant()
    const token = await given.token(owner, 'merchant_owner', `merchant:${owner.id}`)
    const answers = await Promise.all(Array.from({ length: 60 }, () => call('createWebhookSubscription', { as: token, body: hook })))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(50)
    const refused = answers.filter(({ status }) => status !== 201)
    expect(refused.map(({ body }) => body)).toEqual(Array.from({ length: 10 }, () => expect.objectContaining({
      error: 'invalid_state', message: 'The merchant has 50 webhook subscriptions, the most there may be: delete one first.',
    }) as unknown))
    const [made] = answers.filter(({ status }) => status === 201)
    await call('deleteWebhookSubscription', { as: token, params: { id: (made?.body as { id: string }).id } })
    expect(await created(hook, token)).toMatchObject({ merchant_id: owner.id })
  })
})
