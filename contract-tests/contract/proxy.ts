import { randomUUID } from 'node:crypto'
import { deepStrictEqual } from 'node:assert/strict'
import { TOTP } from 'otpauth'
import { channelCodes, channelOf } from '../../domain/channels.ts'
import type { RunningSystem } from './system.ts'
import type { Tally } from './tally.ts'
import { checkoutJourneys } from './checkoutJourneys.ts'
import { moneyJourneys } from './moneyJourneys.ts'
import { settingsJourneys } from './settingsJourneys.ts'
import { askAs, through } from './through.ts'
import type { Ask, Body } from './through.ts'
import { startPrism } from './tools.ts'

/** A journey whose every request and answer Prism holds against the documents on the way; a violation is a failure. */
export async function proxy(system: RunningSystem, { check }: Tally): Promise<void> {
  const [payments, identity] = await Promise.all([
    startPrism('proxy', 'generated/payments.json', system.urls.payments), startPrism('proxy', 'generated/identity.json', system.urls.identity),
  ])
  try {
    const token = await logIn(identity.url, system, check)
    const ask = askAs(payments.url, token)
    await check('getMe', async () => {
      const { status, body } = await ask('GET', '/v1/me')
      deepStrictEqual([status, (body.caller as Body).kind, (body.tenant as Body).id], [200, 'user', system.tenantId])
    })
    for (const code of channelCodes) await check(`an intent over ${code}`, () => oneChannel(ask, system, code))
    await check('an intent over several channels', () => severalChannels(ask))
    await check('an unknown intent', async () => {
      const { status, body } = await ask('GET', `/v1/payments/intents/${randomUUID()}`)
      deepStrictEqual([status, body.error], [404, 'not_found'])
    })
    await check('a channel that there is not', async () => {
      const { status, body } = await ask('POST', '/v1/payments/intents', { amount_idr: 150_000, allowed_channels: ['va_bank_unknown'] })
      deepStrictEqual([status, body.error], [422, 'channel_unavailable'])
    })
    await moneyJourneys(ask, payments.url, check)
    await checkoutJourneys(ask, payments.url, check)
    await settingsJourneys(ask, payments.url, system, check)
  } finally {
    await Promise.all([payments.stop(), identity.stop()])
  }
}

async function logIn(url: string, system: RunningSystem, check: Tally['check']): Promise<string> {
  const { email, password, totpSecret } = await system.newOwner()
  let token = ''
  await check('logging in with TOTP', async () => {
    const first = await through(url, 'POST', '/v1/auth/login', { email, password, environment: 'sandbox' })
    deepStrictEqual([first.status, first.body.status], [200, 'mfa_required'])
    const code = new TOTP({ secret: totpSecret }).generate()
    const second = await through(url, 'POST', '/v1/auth/login/totp', { mfa_token: first.body.mfa_token, code })
    deepStrictEqual([second.status, second.body.status], [200, 'authenticated'])
    token = String(second.body.access_token)
  })
  return token
}

/** Created, repeated by key, read, paid where a provider takes the money, and read again as paid. */
async function oneChannel(ask: Ask, system: RunningSystem, code: typeof channelCodes[number]): Promise<void> {
  const reference = `proxy-${randomUUID()}`
  const input = { amount_idr: 150_000, reference_id: reference, ...(code === 'cash' ? { channel: code } : { allowed_channels: [code] }) }
  const key = { 'Idempotency-Key': randomUUID() }
  const created = await ask('POST', '/v1/payments/intents', input, key)
  deepStrictEqual([created.status, created.body.status], [201, 'open'])
  const repeated = await ask('POST', '/v1/payments/intents', input, key)
  deepStrictEqual([repeated.status, repeated.body, repeated.headers.get('idempotency-replayed')], [201, created.body, 'true'])
  const path = `/v1/payments/intents/${String(created.body.id)}`
  const read = await ask('GET', path)
  deepStrictEqual([read.status, read.body], [200, created.body])
  if (!channelOf(code).needs_provider) return
  const { charges: [charge] } = await system.simulator.charges({ merchant_reference: reference })
  if (!charge) throw new Error('the simulator has no charge')
  await system.settled(system.simulator.pay(charge.reference))
  const paid = await ask('GET', path)
  deepStrictEqual([paid.status, paid.body.status, paid.body.paid_idr], [200, 'paid', 150_000])
}

async function severalChannels(ask: Ask): Promise<void> {
  const input = { amount_idr: 150_000, allowed_channels: ['qris', 'va_bank_a', 'ewallet_wallet_a'], return_url: 'https://shop.example/orders/1042' }
  const created = await ask('POST', '/v1/payments/intents', input)
  deepStrictEqual([created.status, created.body.status, created.body.allowed_channels], [201, 'open', input.allowed_channels])
  const read = await ask('GET', `/v1/payments/intents/${String(created.body.id)}`)
  deepStrictEqual([read.status, read.body], [200, created.body])
}
