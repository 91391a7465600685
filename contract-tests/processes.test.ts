import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { freePort, startPayments } from './harness/payments.ts'
import { startServiceProcess } from './harness/serviceProcess.ts'

const bench = await startPayments()
const { database, environment, given, simulator } = bench
const as = await given.apiKey(await given.merchant())

describe('a process told to end', () => {
  test('finishes the request at work, takes no new one, and is gone', async () => {
    const service = await startServiceProcess('payments', environment)
    const reference = `order-${randomUUID()}`
    await simulator.next('latency', { merchant_reference: reference, ms: 500 })
    const atWork = fetch(`${service.url}/v1/payments/intents`, {
      method: 'POST', headers: { 'Authorization': `Bearer ${as}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ amount_idr: 150_000, allowed_channels: ['qris'], reference_id: reference }),
    })
    // The first transaction is committed: the request is at the provider.
    await expect.poll(() => database.query((sql) => sql`select from payments.payment_intents where reference_id = ${reference}`)).toHaveLength(1)
    const ended = service.end()
    expect((await atWork).status).toBe(201)
    await ended
    await expect(fetch(`${service.url}/v1/health`)).rejects.toThrow()
  })
})

describe('a process that cannot start', () => {
  test('names the variable that is missing', async () => {
    const { DATABASE_URL: _, ...rest } = environment
    await expect(startServiceProcess('payments', rest as Record<string, string>)).rejects.toThrow(/payments cannot start:[^]*DATABASE_URL is not set/)
  })

  test('on a database without its tables, says what to run', async () => {
    const empty = new URL(bench.databaseUrl)
    empty.pathname = '/postgres'
    await expect(startServiceProcess('payments', { ...environment, DATABASE_URL: empty.href })).rejects.toThrow(/make migrate/)
  })
})

test('/metrics tells requests by operation and status, latency and the database pool', async () => {
  const port = await freePort()
  const service = await startServiceProcess('payments', { ...environment, METRICS_PORT: String(port) })
  await fetch(`${service.url}/v1/health`)
  await fetch(`${service.url}/v1/payments/intents`, { method: 'POST' })
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  expect(text).toMatch(/bayar_requests_total\{operation="getHealth",status="200",process="payments"\} 1/)
  expect(text).toMatch(/bayar_requests_total\{operation="createPaymentIntent",status="401",process="payments"\} 1/)
  expect(text).toMatch(/bayar_request_duration_seconds_count\{[^}]*operation="getHealth"[^}]*\} 1/)
  expect(text).toMatch(/bayar_database_connections_max\{process="payments"\} 10/)
  expect((await fetch(`${service.url}/metrics`)).status).toBe(404)
  await service.end()
})
