import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { startPayments } from '../../../contract-tests/harness/payments.ts'
import { startReceiver } from '../../../contract-tests/harness/receiver.ts'
import { replaysOf } from '../../../contract-tests/harness/replays.ts'
import { subscribedIn } from '../../../contract-tests/harness/subscribed.ts'
import { trusting, webhooksOf } from '../../../contract-tests/harness/webhooks.ts'

const receiver = await startReceiver()
const bench = await startPayments({ settings: trusting(receiver) })
const { call, clock, given, send } = bench
const hooks = webhooksOf(bench, receiver)
const replays = replaysOf(bench, hooks)
const subscribed = subscribedIn(bench, hooks)

test('200: the job from queued to its end, for everybody with the permission at the merchant', async () => {
  const { as, id: subscription, merchant, happen } = await subscribed()
  const since = clock.now().toISOString()
  await happen()
  clock.advance(1000)
  const asked = await call('resendEvents', { as, params: { id: subscription }, body: { since } })
  if (asked.status !== 202) throw new Error(JSON.stringify(asked.body))
  const { id } = asked.body
  const read = (token = as) => call('getWebhookReplayJob', { as: token, params: { id } })
  expect((await read()).body).toEqual(asked.body)
  clock.advance(4000)
  await replays.run(id)
  const at = clock.now().toISOString()
  const ended = { ...asked.body, status: 'succeeded', progress: { total: 1, done: 1, replayed: 0, skipped: 1 }, started_at: at, ended_at: at }
  for (const token of [as, await given.token(merchant, 'tenant_admin', '*'), await given.token(merchant, 'merchant_support', `merchant:${merchant.id}`)]) {
    expect(await read(token)).toMatchObject({ status: 200, body: ended })
  }
})

test('404 not_found: unknown, malformed, or of another merchant', async () => {
  const { as, merchant } = await subscribed()
  const asked = await call('replayDeadWebhookDeliveries', { as, body: {} })
  if (asked.status !== 202) throw new Error(JSON.stringify(asked.body))
  const sibling = await given.merchant({ tenantId: merchant.tenantId })
  const stranger = await given.merchant()
  for (const other of [sibling, stranger]) {
    const token = await given.token(other, 'merchant_owner', `merchant:${other.id}`)
    expect(await call('getWebhookReplayJob', { as: token, params: { id: asked.body.id } })).toMatchObject({ status: 404, body: { error: 'not_found' } })
  }
  expect((await call('getWebhookReplayJob', { as, params: { id: randomUUID() } })).status).toBe(404)
  expect((await send('getWebhookReplayJob', { as, params: { id: 'x' } })).status).toBe(404)
})
