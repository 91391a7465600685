import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { startPayments } from './harness/payments.ts'
import { startServiceProcess } from './harness/serviceProcess.ts'
import { signCallback } from '../providers/callbackSignature.ts'

const bench = await startPayments({ settings: { PROVIDER_TIMEOUT_MS: '8000' } })
const { credential, database, environment, given, settled, simulator } = bench
const as = await given.apiKey(await given.merchant())

/** An intent that a process made, with the charge behind it paid and nobody told. */
async function paidUntold(url: string) {
  const reference = `order-${randomUUID()}`
  const response = await fetch(`${url}/v1/payments/intents`, {
    method: 'POST', headers: { 'Authorization': `Bearer ${as}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ amount_idr: 150_000, allowed_channels: ['va_bank_a'], reference_id: reference }),
  })
  expect(response.status).toBe(201)
  const { id } = await response.json() as { id: string }
  const { charges: [charge] } = await simulator.charges({ merchant_reference: reference })
  if (!charge) throw new Error('the simulator has no charge')
  await simulator.pay(charge.reference, { callback: null })
  return { id, charge }
}

/** Tells a process of the payment, as the provider would. Answers the status. */
async function tell(url: string, { reference, key }: { reference: string, key: string }): Promise<number> {
  const body = JSON.stringify({
    event_id: randomUUID(), event: 'charge.paid', key, reference, status: 'paid', currency: 'IDR', amount_idr: 150_000, payment_reference: `${reference}-P1`,
    completed_at: new Date().toISOString(), decline: null, payer: null,
  })
  const response = await fetch(`${url}/v1/inbound/psp/simulator/${credential.id}`, {
    method: 'POST', body,
    headers: { 'Content-Type': 'application/json', 'X-Simulator-Signature': signCallback(credential.secret, Buffer.from(body), new Date()) },
  })
  return response.status
}

async function stateOf(id: string) {
  const [row] = await database.query((sql) => sql`
    select i.status, i.uses, i.overpaid_idr,
      (select count(*)::int from payments.events e where e.intent_id = i.id and e.kind = 'payment.completed') as completed,
      array(select c.outcome from payments.provider_callbacks c where position(convert_to(o.id::text, 'UTF8') in c.body) > 0) as callbacks
    from payments.payment_intents i join payments.provider_operations o on o.intent_id = i.id where i.id = ${id}`)
  return row
}
const untold = { status: 'open', uses: 0, overpaid_idr: 0, completed: 0, callbacks: ['received'] }
const applied = { status: 'paid', uses: 1, overpaid_idr: 0, completed: 1, callbacks: ['applied'] }

test('a process killed between its answer to a callback and the payment: a worker applies it, once', async () => {
  const doomed = await startServiceProcess('payments', environment)
  const { id, charge } = await paidUntold(doomed.url)
  await simulator.next('time-out', { on: 'find', key: charge.key })
  expect(await tell(doomed.url, charge)).toBe(200)
  expect(await stateOf(id)).toEqual(untold)
  await doomed.kill()
  await simulator.clear()
  expect(await stateOf(id)).toEqual(untold)
  // The lease of the killed process would lapse by itself within 10 s.
  await database.query((sql) => sql`update payments.provider_callbacks set next_try_at = now() where outcome = 'received'`)
  const worker = await startServiceProcess('worker', environment)
  await settled()
  expect(await stateOf(id)).toEqual(applied)
  await worker.end()
}, 60_000)

test('a process told to end finishes the callback that it has answered', async () => {
  const ending = await startServiceProcess('payments', environment)
  const { id, charge } = await paidUntold(ending.url)
  await simulator.next('latency', { on: 'find', key: charge.key, ms: 300 })
  expect(await tell(ending.url, charge)).toBe(200)
  expect(await stateOf(id)).toEqual(untold)
  await ending.end()
  expect(await stateOf(id)).toEqual(applied)
}, 60_000)

test('two workers and the process that answered, all at once: each payment counts once', async () => {
  const service = await startServiceProcess('payments', environment)
  const paid = []
  for (let made = 0; made < 10; made += 1) paid.push(await paidUntold(service.url))
  const workers = await Promise.all([startServiceProcess('worker', environment), startServiceProcess('worker', environment)])
  await Promise.all(paid.map(async ({ charge }) => {
    expect(await tell(service.url, charge)).toBe(200)
    await database.query((sql) => sql`update payments.provider_callbacks set next_try_at = now() where outcome = 'received'`)
  }))
  await settled()
  for (const { id } of paid) expect(await stateOf(id)).toEqual(applied)
  await Promise.all([service, ...workers].map((process) => process.end()))
}, 60_000)
