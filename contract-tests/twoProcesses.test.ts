import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import { startPayments } from './harness/payments.ts'
import { startServiceProcess } from './harness/serviceProcess.ts'

const bench = await startPayments({ settings: { PROVIDER_TIMEOUT_MS: '8000' } })
const { database, environment, given, simulator } = bench
const merchant = await given.merchant()
const as = await given.apiKey(merchant)
const start = () => startServiceProcess('payments', environment)
const [left, right] = await Promise.all([start(), start()])
afterAll(() => Promise.all([left.kill(), right.kill()]))

interface Creation { key: string, reference: string, channels: readonly string[] }
interface Answer { status: number, text: string, replayed: string | null }

const newCreation = (channels: readonly string[]): Creation => ({ key: randomUUID(), reference: `order-${randomUUID()}`, channels })

async function create(url: string, { key, reference, channels }: Creation): Promise<Answer> {
  const response = await fetch(`${url}/v1/payments/intents`, {
    method: 'POST', headers: { 'Authorization': `Bearer ${as}`, 'Content-Type': 'application/json', 'Idempotency-Key': key },
    body: JSON.stringify({ amount_idr: 150_000, allowed_channels: channels, reference_id: reference }),
  })
  return { status: response.status, text: await response.text(), replayed: response.headers.get('idempotency-replayed') }
}

/** Intents, shown or not, and events of a merchant's reference. */
async function stored(reference: string): Promise<{ intents: number, visible: number, events: number }> {
  const [row] = await database.query((sql) => sql<{ intents: number, visible: number, events: number }[]>`
    select count(*)::int as intents, count(*) filter (where i.visible)::int as visible,
      (select count(*)::int from payments.events e where e.intent_id = any(array_agg(i.id)) and e.kind = 'payment_intent.created') as events
    from payments.payment_intents i
    where i.tenant_id = ${merchant.tenantId} and i.merchant_id = ${merchant.id} and i.reference_id = ${reference}`)
  return row as { intents: number, visible: number, events: number }
}

async function fiftyAtOnce(creation: Creation): Promise<void> {
  const answers = await Promise.all(Array.from({ length: 50 }, (_, at) => create(at % 2 === 0 ? left.url : right.url, creation)))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  expect(answers.filter(({ replayed }) => replayed === 'true')).toHaveLength(49)
  expect(answers.filter(({ replayed }) => replayed === null)).toHaveLength(1)
  expect(await stored(creation.reference)).toEqual({ intents: 1, visible: 1, events: 1 })
}

const rounds = [1, 2, 3, 4, 5]

describe('the same key 50 at once over two processes', () => {
  test.each(rounds)('makes one intent and one charge, and one answer for all (%i)', async () => {
    const creation = newCreation(['qris'])
    await fiftyAtOnce(creation)
    const { total, charges: [charge], by_key: calls } = await simulator.charges({ merchant_reference: creation.reference })
    expect([total, calls[charge?.key ?? '']]).toEqual([1, { charges: 1, create_calls: 1 }])
  })

  test.each(rounds)('makes one intent without a provider where the payer chooses the channel (%i)', async () => {
    const creation = newCreation(['qris', 'va_bank_a'])
    await fiftyAtOnce(creation)
    expect((await simulator.charges({ merchant_reference: creation.reference })).total).toBe(0)
  })
})

describe('a process killed while it waits for the provider', () => {
  test('leaves a creation that the other one finishes under the same key: one intent, one charge', async () => {
    const creation = newCreation(['qris'])
    const doomed = await start()
    await simulator.next('silent', { merchant_reference: creation.reference })
    const lost = create(doomed.url, creation).catch((error: unknown) => error)
    await expect.poll(async () => (await simulator.charges({ merchant_reference: creation.reference })).total).toBe(1)
    await doomed.kill()
    expect(await lost).toBeInstanceOf(Error)
    expect(await stored(creation.reference)).toEqual({ intents: 1, visible: 0, events: 0 })

    const lapsed = await database.query((sql) => sql`
      update payments.provider_operations set lease_until = now() - interval '1 second'
      where tenant_id = ${merchant.tenantId} and merchant_id = ${merchant.id} and idempotency_key = ${creation.key} and recovery_point = 'started'
      returning id`)
    expect(lapsed).toHaveLength(1)
    const finished = await create(right.url, creation)
    expect([finished.status, finished.replayed]).toEqual([201, 'true'])
    expect(await create(left.url, creation)).toEqual(finished)
    expect(await stored(creation.reference)).toEqual({ intents: 1, visible: 1, events: 1 })
    const { total, charges: [charge], by_key: calls } = await simulator.charges({ merchant_reference: creation.reference })
    expect([total, calls[charge?.key ?? '']?.charges]).toEqual([1, 1])
    expect((JSON.parse(finished.text) as { qr_string: string }).qr_string).toBe((charge?.fields as { qr_string: string }).qr_string)
  })

  test('leaves a creation that a retry already waiting for it takes over once the lease has lapsed: one intent, one charge', async () => {
    const creation = newCreation(['qris'])
    const doomed = await start()
    await simulator.next('silent', { merchant_reference: creation.reference })
    const lost = create(doomed.url, creation).catch((error: unknown) => error)
    await expect.poll(async () => (await simulator.charges({ merchant_reference: creation.reference })).total).toBe(1)
    await doomed.kill()
    await lost
    const waiting = create(right.url, creation)
    await database.query((sql) => sql`
      update payments.provider_operations set lease_until = now()
      where tenant_id = ${merchant.tenantId} and merchant_id = ${merchant.id} and idempotency_key = ${creation.key}`)
    expect(await waiting).toMatchObject({ status: 201, replayed: 'true' })
    expect(await stored(creation.reference)).toEqual({ intents: 1, visible: 1, events: 1 })
    expect((await simulator.charges({ merchant_reference: creation.reference })).total).toBe(1)
  })
})
