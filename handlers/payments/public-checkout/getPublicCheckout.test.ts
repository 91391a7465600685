import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { startPayments } from '../../../contract-tests/harness/payments.ts'
import type { components } from '../../../generated/payments.ts'

const bench = await startPayments()
const { call, clock, given, send, simulator } = bench
const merchant = await given.merchant()
const as = await given.apiKey(merchant)

type Create = components['schemas']['PaymentIntentCreate']
const create = async (body: Partial<Create> = {}) => {
  const answer = await call('createPaymentIntent', { as, body: { amount_idr: 150_000, allowed_channels: ['qris', 'va_bank_a'], ...body } })
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body
}
const view = async (shortcode: string, attempt_id?: string) => {
  const answer = await call('getPublicCheckout', { params: { shortcode }, ...(attempt_id !== undefined && { query: { attempt_id } }) })
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  return answer.body
}
const choose = async (shortcode: string, channel: string) => {
  const answer = await call('choosePublicCheckoutChannel', { params: { shortcode }, body: { channel } })
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body
}

describe('200', () => {
  test('holds what a payer may see and nothing of the merchant\'s or the customer\'s data', async () => {
    const intent = await create({
      description: 'Order 1042', reference_id: `order-${randomUUID()}`, metadata: { cost_centre: 'x9' },
      customer: { name: 'Pelanggan', email: 'pelanggan@shop.example', phone: '+628120000000' }, return_url: 'https://shop.example/done',
    })
    // The first answer does not wait for identity; the branding is there soon after.
    await view(intent.shortcode)
    await expect.poll(async () => (await view(intent.shortcode)).brand.display_name).toBe('Toko Contoh')
    expect(await view(intent.shortcode)).toEqual({
      id: intent.id, shortcode: intent.shortcode, environment: 'sandbox', status: 'open', late: false, amount_idr: 150_000, amount_open: false,
      description: 'Order 1042', merchant: { name: 'Warung Contoh' },
      brand: { display_name: 'Toko Contoh', logo_url: null, accent_hex: '#0F766E' },
      channels: [
        { code: 'qris', kind: 'qris', name_en: 'QRIS', name_id: 'QRIS' },
        { code: 'va_bank_a', kind: 'va', name_en: 'Bank A virtual account', name_id: 'Virtual account Bank A' },
      ],
      attempt: null, intent_expires_at: intent.intent_expires_at, return_url: 'https://shop.example/done',
    })
  })

  test('shows the attempt made at creation, with its typed fields', async () => {
    const { shortcode, va_number } = await create({ allowed_channels: ['va_bank_a'] })
    expect((await view(shortcode)).attempt).toMatchObject({ channel: 'va_bank_a', kind: 'va', status: 'pending', va_number, va_bank: 'bank_a' })
  })

  test('shows where the card challenge is, never the acquirer\'s reference of it', async () => {
    const { shortcode } = await create({ allowed_channels: ['card_3ds'] })
    const { attempt } = await view(shortcode)
    expect(attempt).toMatchObject({ challenge_url: `${bench.url}/pay/${shortcode}/3ds` })
    expect(attempt).not.toHaveProperty('challenge')
  })

  test('reads expired past the deadline, without channels and without anything to pay by', async () => {
    const { shortcode } = await create({ allowed_channels: ['ewallet_wallet_a'] })
    clock.advance(900_001)
    const { attempt, channels, status } = await view(shortcode)
    expect({ channels, status }).toEqual({ channels: [], status: 'expired' })
    expect(attempt).toMatchObject({ status: 'expired' })
    expect(attempt).not.toHaveProperty('redirect_url')
  })

  test('an attempt past its own deadline reads expired while the payment stays open', async () => {
    const { shortcode } = await create()
    await choose(shortcode, 'qris')
    clock.advance(1_800_001)
    const { attempt, status } = await view(shortcode)
    expect({ status, attempt: attempt?.status }).toEqual({ status: 'open', attempt: 'expired' })
  })

  test('leaves out channels that the merchant has switched off since', async () => {
    const own = await given.merchant({ channels: ['qris', 'va_bank_a'] })
    const key = await given.apiKey(own)
    const answer = await call('createPaymentIntent', { as: key, body: { amount_idr: 150_000, allowed_channels: ['qris', 'va_bank_a'] } })
    if (answer.status !== 201) throw new Error('not created')
    await bench.database.query((sql) => sql`update payments.merchant_channels set enabled = false where merchant_id = ${own.id} and channel = 'qris'`)
    expect((await view(answer.body.shortcode)).channels.map(({ code }) => code)).toEqual(['va_bank_a'])
  })

  test('says that the payer types the amount of a static QR', async () => {
    const { shortcode } = await create({ allowed_channels: ['qris'], max_uses: 0 })
    expect(await view(shortcode)).toMatchObject({ amount_open: true, attempt: { kind: 'qris' } })
  })

  test('on a payment for several payers shows each their own attempt, and the shared one to everybody', async () => {
    const { shortcode } = await create({ allowed_channels: ['va_bank_a', 'ewallet_wallet_a'], max_uses: 3 })
    const [first, second] = [await choose(shortcode, 'ewallet_wallet_a'), await choose(shortcode, 'ewallet_wallet_a')]
    expect(second.id).not.toBe(first.id)
    expect((await view(shortcode)).attempt).toBeNull()
    expect((await view(shortcode, first.id)).attempt).toMatchObject({ id: first.id, redirect_url: first.redirect_url })
    const shared = await choose(shortcode, 'va_bank_a')
    expect((await view(shortcode)).attempt).toMatchObject({ id: shared.id, va_number: shared.va_number })
  })

  test('any origin may read it', async () => {
    const { shortcode } = await create()
    const answer = await send('getPublicCheckout', { params: { shortcode }, headers: { Origin: 'https://shop.example' } })
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  })
})

describe('404', () => {
  test('is the same for unknown, malformed, hidden and point-of-sale', async () => {
    const pos = await call('createPaymentIntent', { as, body: { amount_idr: 5000, channel: 'cash' } })
    if (pos.status !== 201) throw new Error('not created')
    const reference_id = `order-${randomUUID()}`
    await simulator.next('time-out-before-charging', { merchant_reference: reference_id })
    await call('createPaymentIntent', { as, body: { amount_idr: 150_000, allowed_channels: ['qris'], reference_id }, key: randomUUID() })
    const [hidden] = await bench.database.query((sql) => sql<{ shortcode: string }[]>`
      select shortcode from payments.payment_intents where reference_id = ${reference_id} and not visible`)
    const bodies = await Promise.all(['zzzzzzzzzz', 'ILOU', '%00', pos.body.shortcode, hidden?.shortcode ?? ''].map(async (shortcode) => {
      const answer = await send('getPublicCheckout', { params: { shortcode }, headers: { 'X-Request-Id': 'same' } })
      return `${answer.status} ${answer.text}`
    }))
    expect(new Set(bodies).size).toBe(1)
    expect(bodies[0]).toMatch(/^404 /)
  })

  test('an attempt of another payment is not found', async () => {
    const [one, other] = [await create(), await create({ allowed_channels: ['qris'] })]
    const { attempt } = await view(other.shortcode)
    expect(await call('getPublicCheckout', { params: { shortcode: one.shortcode }, query: { attempt_id: attempt?.id ?? '' } }))
      .toMatchObject({ status: 404, body: { error: 'not_found' } })
  })
})

test('while identity cannot be asked the page is neutral, under the merchant\'s name', async () => {
  const alone = await startPayments({ tenant: null })
  const own = await alone.given.merchant()
  const answer = await alone.call('createPaymentIntent', { as: await alone.given.apiKey(own), body: { amount_idr: 150_000, allowed_channels: ['qris', 'cash'] } })
  if (answer.status !== 201) throw new Error('not created')
  expect(await alone.call('getPublicCheckout', { params: { shortcode: answer.body.shortcode } }))
    .toMatchObject({ status: 200, body: { brand: { display_name: 'Warung Contoh', logo_url: null, accent_hex: '#334155' } } })
})

test('429: requests are counted for each client address', async () => {
  const limited = await startPayments({ settings: { RATE_LIMIT_PER_ADDRESS: '2' } })
  const own = await limited.given.merchant()
  const answer = await limited.call('createPaymentIntent', { as: await limited.given.apiKey(own), body: { amount_idr: 150_000, allowed_channels: ['qris', 'cash'] } })
  if (answer.status !== 201) throw new Error('not created')
  const statuses = await Promise.all(Array.from({ length: 6 }, () => limited.call('getPublicCheckout', { params: { shortcode: answer.body.shortcode } })))
  expect(statuses.filter(({ status }) => status === 429).length).toBeGreaterThan(0)
})
