import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { startPayments } from '../contract-tests/harness/payments.ts'
import { startReceiver } from '../contract-tests/harness/receiver.ts'
import { answering, trusting, webhooksOf } from '../contract-tests/harness/webhooks.ts'
import { retryPolicy } from '../domain/webhookRetry.ts'
import { writeEvent } from './paymentEvents.ts'

let respond: (response: ServerResponse) => void = (response) => void response.writeHead(500).end()
const receiver = await startReceiver((_, response) => respond(response))
const bench = await startPayments({ settings: trusting(receiver) })
const { clock, creation, database, given } = bench
const hooks = webhooksOf(bench, receiver)

/** The least and the greatest number that a random source of 48 bits gives. */
const ends = { least: 0x00, greatest: 0xff }
const runtimeOf = (byte: number) => ({ now: () => clock.now(), randomBytes: (size: number) => size === 6 ? Buffer.alloc(size, byte) : randomBytes(size) })

const pending = async () => {
  const merchant = await given.merchant()
  const { id } = await hooks.subscribe(merchant, ['payment.completed'])
  await database.tx((sql) => writeEvent(sql, {
    kind: 'payment.completed', tenantId: merchant.tenantId, merchantId: merchant.id, intentId: null, data: {},
  }, creation, clock.now()))
  const delivery = await hooks.delivery(id)
  return { delivery, subscription: id, dueIn: async () => (await hooks.delivery(id)).due_in ?? Number.NaN }
}

/** Both are by the database's clock, which went on since. */
const withinASecond = (actual: number, wanted: number) => {
  expect(actual).toBeLessThanOrEqual(wanted)
  expect(actual).toBeGreaterThan(wanted - 1)
}

test('a row is due at the least and at the greatest delay of the formula, for each number of failures up to the last of a round', async () => {
  for (const [factor, byte] of [[0.5, ends.least], [1.5, ends.greatest]] as const) {
    const { delivery, subscription, dueIn } = await pending()
    for (let failures = 1; failures < retryPolicy.attemptsPerRound; failures += 1) {
      // Others succeed meanwhile: no run of failures disables the subscription.
      await database.query((sql) => sql`update payments.webhook_subscriptions set last_success_at = clock_timestamp() where id = ${subscription}`)
      await hooks.makeDue(delivery.id)
      expect(await hooks.deliver(delivery, { runtime: runtimeOf(byte), sender: answering({ status: 500 }) })).toBe('retrying')
      withinASecond(await dueIn(), Math.min(2 ** failures, 3600) * factor)
    }
  }
})

test.each([
  ['120 seconds', 429, (): string => '120', 120],
  ['a date in 90 seconds', 503, (): string => new Date(Math.ceil(clock.now().getTime() / 1000) * 1000 + 90_000).toUTCString(), 90.322],
  ['a day, which is more than the longest', 429, (): string => '86400', 3600],
  ['a date in a year', 503, (): string => new Date(clock.now().getTime() + 31_536_000_000).toUTCString(), 3600],
] as const)('Retry-After of a real answer, %s, puts the next attempt off as far as that and no further than an hour', async (_, status, retryAfter, seconds) => {
  const { delivery, dueIn } = await pending()
  respond = (response) => void response.writeHead(status, { 'Retry-After': retryAfter() }).end()
  expect(await hooks.deliver(delivery, { runtime: runtimeOf(ends.greatest) })).toBe('retrying')
  withinASecond(await dueIn(), seconds)
})

test.each([
  ['of another status', 500, '600'], ['that is no time', 503, 'soon'], ['that is shorter than the formula', 429, '1'],
  ['that is over', 503, 'Mon, 02 Nov 2020 03:04:05 GMT'], ['that came twice', 429, ['600', '900']],
] as const)('Retry-After %s leaves the formula\'s delay', async (_, status, retryAfter) => {
  const { delivery, dueIn } = await pending()
  respond = (response) => void response.writeHead(status, { 'Retry-After': retryAfter as string }).end()
  expect(await hooks.deliver(delivery, { runtime: runtimeOf(ends.greatest) })).toBe('retrying')
  withinASecond(await dueIn(), 3)
})
