import { expect } from 'vitest'
import type { RawAnswer } from './call.ts'
import { startPayments } from './payments.ts'
import type { PaymentsBench } from './payments.ts'
import type { Merchant } from './given.ts'

export const good = { amount_idr: 150_000, allowed_channels: ['qris', 'cash'] }

export interface HostileBench extends PaymentsBench {
  merchant: Merchant
  as: string
  /** Creates an intent by a body, or by text that JSON.stringify could not write. */
  create(body: unknown, headers?: Record<string, string>): Promise<RawAnswer>
  /** How many rows a creation could have left. */
  rows(): Promise<number>
  /** Expects a declared 400 that names the field, and nothing written. */
  refused(body: unknown, field: string | RegExp, code?: string): Promise<void>
}

/** A payments service, and what tests of bad input do with it. */
export async function startHostile(): Promise<HostileBench> {
  const bench = await startPayments()
  const merchant = await bench.given.merchant()
  const as = await bench.given.apiKey(merchant)
  const create: HostileBench['create'] = (body, headers = {}) =>
    bench.send('createPaymentIntent', {
      as,
      headers: { 'Content-Type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  const rows = async () => {
    const [row] = await bench.database.query(
      (sql) => sql<{ n: number }[]>`
      select (select count(*) from payments.payment_intents) + (select count(*) from payments.payment_attempts)
        + (select count(*) from payments.events) + (select count(*) from payments.idempotency_keys)
        + (select count(*) from payments.provider_operations) as n`,
    )
    return Number(row?.n)
  }
  const refused: HostileBench['refused'] = async (body, field, code = 'validation_failed') => {
    const before = await rows()
    const answer = await create(body)
    const shown = (typeof body === 'string' ? body : JSON.stringify(body)).slice(0, 200)
    expect(`${answer.status} ${String(answer.body.error)}`, shown).toBe(`400 ${code}`)
    const names = Object.keys(answer.body.fields as object)
    if (typeof field === 'string') expect(names, shown).toContain(field)
    else
      expect(
        names.some((name) => field.test(name)),
        `${shown}: ${names.join()}`,
      ).toBe(true)
    expect(names.length).toBeLessThanOrEqual(20)
    expect(await rows(), shown).toBe(before)
  }
  return { ...bench, merchant, as, create, rows, refused }
}
