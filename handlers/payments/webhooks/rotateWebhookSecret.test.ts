import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { startPayments } from '../../../contract-tests/harness/payments.ts'
import { startReceiver } from '../../../contract-tests/harness/receiver.ts'
import type { ReceivedRequest } from '../../../contract-tests/harness/receiver.ts'
import { isGenuine, trusting, webhooksOf } from '../../../contract-tests/harness/webhooks.ts'
import { sealingKeys } from '../../../domain/sealing.ts'
import { writeEvent } from '../../../jobs/paymentEvents.ts'
import { purgeDue } from '../../../jobs/retention.ts'

const hourMs = 3_600_000
const receiver = await startReceiver()
const bench = await startPayments({ settings: trusting(receiver) })
const { call, clock, configuration, creation, database, given, logged } = bench
const hooks = webhooksOf(bench, receiver)

const subscribed = async () => {
  const merchant = await given.merchant()
  const as = await given.token(merchant, 'merchant_owner', `merchant:${merchant.id}`, { expiresIn: 864_000 })
  const { id, secret } = await hooks.subscribe(merchant, ['payment.completed'])
  const rotate = async (key?: string) => {
    const answer = await call('rotateWebhookSecret', { as, params: { id }, ...(key !== undefined && { key }) })
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
    return { ...answer.body, replayed: answer.headers.get('idempotency-replayed') }
  }
  /** The request of a delivery of a new event. */
  const delivered = async () => {
    await database.tx((sql) => writeEvent(sql, {
      kind: 'payment.completed', tenantId: merchant.tenantId, merchantId: merchant.id, intentId: null, data: {},
    }, creation, clock.now()))
    const delivery = (await hooks.deliveries(id)).at(-1)
    if (!delivery || await hooks.deliver(delivery) !== 'delivered') throw new Error('it was not delivered')
    return receiver.received.at(-1) as ReceivedRequest
  }
  const read = async () => (await call('getWebhookSubscription', { as, params: { id } })).body
  const row = async () => {
    const [found] = await database.query((sql) => sql<{ secret: Buffer, previous_secret: Buffer | null, previous_secret_until: Date | null }[]>`
      select secret, previous_secret, previous_secret_until from payments.webhook_subscriptions where id = ${id}`)
    if (!found) throw new Error('no row')
    return found
  }
  return { merchant, as, id, secret, rotate, delivered, read, row }
}

/** The request as one sees it who looks at the previous header alone. */
const byPrevious = ({ headers, ...request }: ReceivedRequest): ReceivedRequest => ({
  ...request, headers: { ...headers, 'x-service-signature': String(headers['x-service-signature-previous']) },
})

describe('200', () => {
  test('the new secret is answered once and signs from now on; for 24 hours the old one signs the same time and bytes in a header of its own', async () => {
    const { id, secret: old, rotate, delivered, read } = await subscribed()
    const before = await delivered()
    expect(before.headers).not.toHaveProperty('x-service-signature-previous')
    const { secret, replayed: _, ...view } = await rotate()
    expect(secret).toMatch(/^whsec_[0-9A-Za-z]{43}$/)
    expect(secret).not.toBe(old)
    expect(view).toEqual(await read())
    expect(view).toMatchObject({ id, active: true, previous_secret_expires_at: new Date(clock.now().getTime() + 24 * hourMs).toISOString() })
    clock.advance(24 * hourMs - 1)
    const during = await delivered()
    expect(during.headers['x-service-signature']).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/)
    expect(String(during.headers['x-service-signature-previous']).split(',')[0]).toBe(String(during.headers['x-service-signature']).split(',')[0])
    expect([isGenuine(during, secret, clock.now()), isGenuine(during, old, clock.now())]).toEqual([true, false])
    expect([isGenuine(byPrevious(during), secret, clock.now()), isGenuine(byPrevious(during), old, clock.now())]).toEqual([false, true])
    clock.advance(1)
    const after = await delivered()
    expect(after.headers).not.toHaveProperty('x-service-signature-previous')
    expect(isGenuine(after, secret, clock.now())).toBe(true)
    expect((await read())).toMatchObject({ previous_secret_expires_at: null })
  })

  test('of two rotations within 24 hours the one right before is the previous secret, for 24 hours from the second; the older one signs nothing', async () => {
    const { secret: first, rotate, delivered } = await subscribed()
    const { secret: second } = await rotate()
    clock.advance(23 * hourMs)
    const { secret: third, previous_secret_expires_at } = await rotate()
    expect(previous_secret_expires_at).toBe(new Date(clock.now().getTime() + 24 * hourMs).toISOString())
    clock.advance(2 * hourMs)
    const request = await delivered()
    expect(isGenuine(request, third, clock.now())).toBe(true)
    expect([isGenuine(byPrevious(request), second, clock.now()), isGenuine(byPrevious(request), first, clock.now())]).toEqual([true, false])
  })

  test('a test fire is signed as any delivery', async () => {
    const { as, id, secret: old, rotate } = await subscribed()
    const { secret } = await rotate()
    expect(await call('testWebhookSubscription', { as, params: { id } })).toMatchObject({ status: 200, body: { succeeded: true } })
    const request = receiver.received.at(-1) as ReceivedRequest
    expect([isGenuine(request, secret, clock.now()), isGenuine(byPrevious(request), old, clock.now())]).toEqual([true, true])
  })

  test('a lost answer is asked for again with the same key: the same secret, and nothing is rotated', async () => {
    const { id, rotate, delivered } = await subscribed()
    const key = randomUUID()
    const first = await rotate(key)
    const again = await rotate(key)
    expect(again).toEqual({ ...first, replayed: 'true' })
    expect(isGenuine(await delivered(), first.secret, clock.now())).toBe(true)
    const audits = await database.query((sql) => sql`
      select from payments.audit_events where target = ${`webhook_subscription:${id}`} and action = 'payments.webhook_subscription.secret_rotated'`)
    expect(audits).toHaveLength(1)
  })

  test('several at once with one key are one rotation; with none each is one, and the last one signs', async () => {
    const { secret: old, rotate, row, id } = await subscribed()
    const key = randomUUID()
    const twins = await Promise.all(Array.from({ length: 4 }, () => rotate(key)))
    expect(new Set(twins.map(({ secret }) => secret)).size).toBe(1)
    const keys = sealingKeys(configuration.SEALING_KEYS)
    const open = (sealed: Buffer) => keys.open(sealed, `webhook_subscriptions:secret:${id}`).toString()
    const once = await row()
    expect([open(once.secret), once.previous_secret && open(once.previous_secret)]).toEqual([twins[0]?.secret, old])
    const secrets = (await Promise.all(Array.from({ length: 4 }, () => rotate()))).map(({ secret }) => secret)
    const { secret, previous_secret } = await row()
    expect(secrets).toContain(open(secret))
    expect(secrets).toContain(open(previous_secret as Buffer))
    expect(secret).not.toEqual(previous_secret)
  })

  test('both secrets are stored sealed, are in no log, and the audit log names neither', async () => {
    const { id, secret: old, rotate, row, merchant } = await subscribed()
    const { secret } = await rotate()
    const stored = await row()
    const keys = sealingKeys(configuration.SEALING_KEYS)
    for (const [sealed, plain] of [[stored.secret, secret], [stored.previous_secret as Buffer, old]] as const) {
      expect(sealed.includes(plain)).toBe(false)
      expect(keys.open(sealed, `webhook_subscriptions:secret:${id}`).toString()).toBe(plain)
    }
    expect(logged.join('')).not.toContain(secret)
    const [audit] = await database.query((sql) => sql`
      select * from payments.audit_events where target = ${`webhook_subscription:${id}`} and action = 'payments.webhook_subscription.secret_rotated'`)
    expect(audit).toMatchObject({ merchant_id: merchant.id, changed_keys: ['secret'] })
    expect(JSON.stringify(audit)).not.toContain('whsec_')
  })

  test('the previous secret is forgotten once its time is over, and at once with the subscription', async () => {
    const { as, id, rotate, row } = await subscribed()
    await rotate()
    clock.advance(24 * hourMs - 1)
    await purgeDue(database, clock.now())
    expect((await row()).previous_secret).not.toBeNull()
    clock.advance(1)
    await purgeDue(database, clock.now())
    expect(await row()).toMatchObject({ previous_secret: null, previous_secret_until: null })
    await rotate()
    expect((await call('deleteWebhookSubscription', { as, params: { id } })).status).toBe(204)
    expect(await row()).toMatchObject({ secret: Buffer.alloc(0), previous_secret: null, previous_secret_until: null })
  })

  test('an inactive subscription is rotated too and stays inactive', async () => {
    const { as, id, rotate } = await subscribed()
    await call('updateWebhookSubscription', { as, params: { id }, body: { active: false } })
    expect(await rotate()).toMatchObject({ active: false, disabled_reason: 'paused' })
  })
})

test('404 not_found: unknown, deleted or of another merchant, and nothing is rotated', async () => {
  const { as, id, row } = await subscribed()
  const stranger = await given.merchant()
  const other = await given.token(stranger, 'merchant_owner', `merchant:${stranger.id}`, { expiresIn: 864_000 })
  const before = await row()
  expect(await call('rotateWebhookSecret', { as: other, params: { id } })).toMatchObject({ status: 404, body: { error: 'not_found' } })
  expect((await call('rotateWebhookSecret', { as, params: { id: randomUUID() } })).status).toBe(404)
  expect(await row()).toEqual(before)
  await call('deleteWebhookSubscription', { as, params: { id } })
  expect((await call('rotateWebhookSecret', { as, params: { id } })).status).toBe(404)
})

test('409 idempotency_key_reused: the same key for another subscription', async () => {
  const { as, merchant, rotate } = await subscribed()
  const key = randomUUID()
  await rotate(key)
  const { id: other } = await hooks.subscribe(merchant, ['payment.failed'])
  expect(await call('rotateWebhookSecret', { as, key, params: { id: other } })).toMatchObject({ status: 409, body: { error: 'idempotency_key_reused' } })
})

test('401 and 403: no credential, an API key, a role that only reads', async () => {
  const { id, merchant } = await subscribed()
  expect((await call('rotateWebhookSecret', { params: { id } })).status).toBe(401)
  expect((await call('rotateWebhookSecret', { as: await given.apiKey(merchant), params: { id } })).status).toBe(403)
  const support = await given.token(merchant, 'merchant_support', `merchant:${merchant.id}`, { expiresIn: 864_000 })
  expect(await call('rotateWebhookSecret', { as: support, params: { id } })).toMatchObject({ status: 403, body: { error: 'forbidden' } })
})
