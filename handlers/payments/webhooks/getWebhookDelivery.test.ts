import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { startPayments } from '../../../contract-tests/harness/payments.ts'
import { startReceiver } from '../../../contract-tests/harness/receiver.ts'
import { subscribedIn } from '../../../contract-tests/harness/subscribed.ts'
import { answering, trusting, webhooksOf } from '../../../contract-tests/harness/webhooks.ts'
import { sweepLapsedDeliveries } from '../../../jobs/webhookSweep.ts'

const receiver = await startReceiver((request, response) => {
  if (request.path === '/full') response.writeHead(503, { 'Content-Type': 'text/plain', 'X-Reason': 'full' }).end('penuh ☕')
  else response.writeHead(204).end()
})
const bench = await startPayments({ settings: trusting(receiver) })
const { call, database, given, send } = bench
const hooks = webhooksOf(bench, receiver)
const subscribed = subscribedIn(bench, hooks)

const read = async (as: string, id: string) => {
  const answer = await call('getWebhookDelivery', { as, params: { id } })
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  return answer.body
}
/** A delivery on which nothing was tried yet. */
const untried = async () => {
  const { as, merchant, id, happen, deliveries } = await subscribed()
  await happen()
  const [delivery] = await deliveries()
  if (!delivery) throw new Error('no delivery')
  const attempt = async (...answers: Parameters<typeof answering>) => {
    await hooks.makeDue(delivery.id)
    await hooks.deliver(delivery, { sender: answering(...answers) })
  }
  return { as, merchant, subscriptionId: id, delivery, attempt }
}

describe('200', () => {
  test('the body is, byte for byte, what the receiver got, and the attempt\'s id is what it was told', async () => {
    const { as, delivery } = await untried()
    expect(await read(as, delivery.id)).toMatchObject({ id: delivery.id, status: 'pending', attempts: [] })
    await hooks.deliver(delivery)
    const sent = receiver.received.find(({ body }) => body.toString().includes(delivery.event_id))
    const answer = await read(as, delivery.id)
    expect(Buffer.from(answer.event_body)).toEqual(sent?.body)
    expect(answer).toMatchObject({ status: 'delivered', attempt_count: 1, attempts: [{ delivery_id: sent?.headers['x-service-delivery-id'] }] })
  })

  test('every attempt stands with status, duration, head and body of the answer, or why none came', async () => {
    const { as, subscriptionId, delivery, attempt } = await untried()
    await call('updateWebhookSubscription', { as, params: { id: subscriptionId }, body: { url: `${receiver.url}/full` } })
    await hooks.deliver(delivery)
    await attempt({ status: null, error: 'timeout', durationMs: 30_000 })
    await attempt({ status: 302, error: 'redirect', headers: { location: 'https://other.example/' } })
    const { attempts } = await read(as, delivery.id)
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string
    expect(attempts).toMatchObject([
      {
        number: 1, outcome: 'failed', status: 503, duration_ms: expect.any(Number) as number,
        response_headers: { 'content-type': 'text/plain', 'x-reason': 'full' }, response_body: 'penuh ☕', response_body_encoding: 'utf-8',
        error: 'status', error_message: 'The receiver answered 503. Only a 2xx accepts a delivery.',
        started_at: time, ended_at: time,
      },
      {
        number: 2, status: null, duration_ms: 30_000, response_headers: null, response_body: null, response_body_encoding: null, error: 'timeout',
        error_message: expect.stringContaining('30 seconds') as string,
      },
      {
        number: 3, status: 302, error: 'redirect', error_message: expect.stringContaining('302') as string,
        response_headers: { location: 'https://other.example/' },
      },
    ])
  })

  test('an attempt at work has no outcome; one whose worker ended is lost, and neither counts as failure', async () => {
    const { as, delivery } = await untried()
    hooks.deliver(delivery, { sender: { send: () => new Promise(() => undefined), close: () => Promise.resolve() } }).catch(() => undefined)
    while ((await hooks.attempts(delivery.id)).length === 0) await Promise.resolve()
    expect(await read(as, delivery.id)).toMatchObject({
      status: 'in_flight', attempt_count: 1, round_failures: 0, next_attempt_at: null, last_error: null,
      attempts: [{ number: 1, outcome: null, status: null, duration_ms: null, error: null, error_message: null, ended_at: null }],
    })
    await hooks.lapse(delivery.id)
    await sweepLapsedDeliveries(hooks.settings)
    await hooks.deliver(delivery, { sender: answering({ status: 500, error: 'status' }) })
    expect(await read(as, delivery.id)).toMatchObject({
      attempt_count: 2, round_failures: 1,
      attempts: [{ number: 1, outcome: 'lost', error: 'lost', error_message: expect.any(String) as string }, { number: 2, outcome: 'failed' }],
    })
  })

  test('it is found by the X-Service-Delivery-Id of any attempt as by its own id', async () => {
    const { as, delivery, attempt } = await untried()
    await attempt({ status: 500, error: 'status' })
    await attempt({ status: 204, succeeded: true })
    const byItself = await read(as, delivery.id)
    expect(byItself.attempts).toHaveLength(2)
    for (const { delivery_id } of byItself.attempts) expect(await read(as, delivery_id)).toEqual(byItself)
  })

  test.each([
    ['text', Buffer.from('ok'), 'utf-8', 'ok'],
    ['nothing', Buffer.alloc(0), 'utf-8', ''],
    ['a byte order mark', Buffer.from('\uFEFFok'), 'utf-8', '\uFEFFok'],
    ['control characters and NUL', Buffer.from('a\u0000b\u001f'), 'utf-8', 'a\u0000b\u001f'],
    ['bytes that are no UTF-8', Buffer.from([0xff, 0xfe, 0x00]), 'base64', '//4A'],
    ['an unfinished character in a short answer', Buffer.from([0x61, 0xe2, 0x98]), 'base64', 'YeKY'],
    ['a character cut off at the limit', Buffer.concat([Buffer.alloc(2046, 'a'), Buffer.from([0xe2, 0x98])]), 'utf-8', 'a'.repeat(2046)],
  ])('an answer of %s is shown, saying how to read it', async (_, body, encoding, text) => {
    const { as, delivery, attempt } = await untried()
    await attempt({ status: 200, succeeded: true, body })
    expect((await read(as, delivery.id)).attempts).toMatchObject([{ response_body: text, response_body_encoding: encoding }])
  })

  test('of more than 100 attempts the latest 100 are shown, and the count tells of all', async () => {
    const { as, delivery } = await untried()
    await database.query((sql) => sql`
      with tried as (update payments.webhook_deliveries set attempt = 130 where id = ${delivery.id} returning *)
      insert into payments.webhook_attempts (id, tenant_id, merchant_id, delivery_id, number, outcome, started_at, ended_at)
      select gen_random_uuid(), tenant_id, merchant_id, id, n, 'failed', now(), now() from tried, generate_series(1, 130) n`)
    const { attempt_count, attempts } = await read(as, delivery.id)
    expect([attempt_count, attempts.length, attempts[0]?.number, attempts.at(-1)?.number]).toEqual([130, 100, 31, 130])
  })
})

test('404 not_found: unknown, malformed, or of another merchant, by its own id and by an attempt\'s', async () => {
  const { as, merchant, delivery, attempt } = await untried()
  await attempt({ status: 204, succeeded: true })
  const [made] = await hooks.attempts(delivery.id)
  const sibling = await given.merchant({ tenantId: merchant.tenantId })
  const stranger = await given.merchant()
  for (const id of [delivery.id, made?.id ?? '']) {
    for (const other of [sibling, stranger]) {
      const token = await given.token(other, 'merchant_owner', `merchant:${other.id}`)
      expect(await call('getWebhookDelivery', { as: token, params: { id } })).toMatchObject({ status: 404, body: { error: 'not_found' } })
    }
  }
  expect((await call('getWebhookDelivery', { as, params: { id: randomUUID() } })).status).toBe(404)
  expect((await send('getWebhookDelivery', { as, params: { id: 'x' } })).status).toBe(404)
})
