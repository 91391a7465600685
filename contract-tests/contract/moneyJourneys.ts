import { deepStrictEqual } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { settings } from '../../domain/configuration.ts'
import type { Tally } from './tally.ts'
import { expecting, through } from './through.ts'
import type { Ask, Body } from './through.ts'

const intents = '/v1/payments/intents'
const cases = '/v1/payments/cases'
const caseLimitMs = 20_000

/** What becomes of an intent, and where it is found. */
export async function moneyJourneys(ask: Ask, url: string, check: Tally['check']): Promise<void> {
  const create = (body: Body) => expecting(ask('POST', intents, { amount_idr: 150_000, ...body }), 201, { status: 'open' })
  await check('an intent is found by each filter of the list', async () => {
    const metadata = { order: randomUUID() }
    const reference = `journey-${randomUUID()}`
    const { id } = await create({ allowed_channels: ['va_bank_a'], reference_id: reference, metadata })
    for (const query of [
      { reference_id: reference }, { 'metadata[order]': metadata.order }, { search: reference.toUpperCase() },
      { reference_id: reference, status: 'open', channel: 'va_bank_a', created_from: '2026-01-01T00:00:00.000Z', page: '1', limit: '5' },
    ]) {
      const { intents: found } = await expecting(ask('GET', `${intents}?${new URLSearchParams(query).toString()}`), 200, { total: 1 })
      deepStrictEqual((found as Body[]).map((intent) => intent.id), [id])
    }
    await expecting(ask('GET', `${intents}?reference_id=${reference}&status=paid`), 200, { total: 0, intents: [] })
  })
  await check('an intent is cancelled once, and repeated by key', async () => {
    const { id } = await create({ allowed_channels: ['va_bank_a'] })
    const [path, key] = [`${intents}/${String(id)}/cancel`, { 'Idempotency-Key': randomUUID() }]
    const cancelled = await expecting(ask('POST', path, undefined, key), 200, { status: 'cancelled' })
    deepStrictEqual((await ask('POST', path, undefined, key)).body, cancelled)
    await expecting(ask('POST', path), 409, { error: 'invalid_state' })
  })
  await check('an intent is paid in the sandbox, and its payment is listed', async () => {
    const reference_id = `journey-${randomUUID()}`
    const { id } = await create({ allowed_channels: ['qris', 'va_bank_a'], reference_id })
    await expecting(ask('POST', `${intents}/${String(id)}/sandbox-complete`), 200, { status: 'paid', paid_idr: 150_000, uses: 1 })
    const { attempts } = await expecting(ask('GET', `${intents}/${String(id)}/attempts`), 200, { total: 1 })
    const { payments } = await expecting(ask('GET', `/v1/payments?reference_id=${reference_id}&status=succeeded`), 200, { total: 1 })
    deepStrictEqual(payments, attempts)
    await expecting(ask('POST', `${intents}/${String(id)}/sandbox-complete`), 409, { error: 'invalid_state' })
  })
  await check('an intent expires in the sandbox', async () => {
    const { id } = await create({ allowed_channels: ['va_bank_b'] })
    await expecting(ask('POST', `${intents}/${String(id)}/sandbox-expire`), 200, { status: 'expired' })
  })
  await check('a card is paid by its challenge, and declined by it', async () => {
    for (const [setting, result, status] of [['SANDBOX_APPROVE_CODE', 'approved', 'paid'], ['SANDBOX_DECLINE_CODE', 'declined', 'failed']] as const) {
      const { id } = await create({ allowed_channels: ['card_3ds'] })
      const challenge = (code: string) => through(url, 'POST', `${intents}/${String(id)}/3ds-callback?auth_code=${code}`)
      await expecting(challenge('4000000000001092'), 400, { error: 'invalid_auth_code' })
      await expecting(challenge(settings[setting].fallback ?? ''), 200, { intent_id: id, result })
      await expecting(ask('GET', `${intents}/${String(id)}`), 200, { status })
    }
  })
  await check('money that is taken back opens a case, which is resolved once', () => reversal(ask))
  await check('cash is confirmed', async () => {
    const { id } = await create({ channel: 'cash' })
    await expecting(ask('POST', `${intents}/${String(id)}/confirm-cash`, { amount_idr: 1 }), 400, { error: 'validation_failed' })
    await expecting(ask('POST', `${intents}/${String(id)}/confirm-cash`, { amount_idr: 150_000 }), 200, { status: 'paid', channel: 'cash' })
  })
}

async function reversal(ask: Ask): Promise<void> {
  const { id } = await expecting(ask('POST', intents, { amount_idr: 111_014, allowed_channels: ['va_bank_a'] }), 201, { status: 'open' })
  await expecting(ask('POST', `${intents}/${String(id)}/sandbox-complete`), 200)
  const { id: caseId, ...opened } = await firstCase(ask, String(id))
  deepStrictEqual([opened.kind, opened.status, opened.received_idr], ['reversal', 'open', 111_014])
  const path = `${cases}/${String(caseId)}`
  await expecting(ask('GET', path), 200, opened)
  const note = 'The order was not sent.'
  const resolved = await expecting(ask('PATCH', path, { status: 'resolved', note }), 200, { status: 'resolved', note, transitions: [] })
  await expecting(ask('PATCH', path, { status: 'resolved', note }), 200, resolved)
  await expecting(ask('PATCH', path, { status: 'resolved', note: 'Another.' }), 409, { error: 'invalid_state' })
  await expecting(ask('GET', `${cases}?intent_id=${String(id)}&status=open`), 200, { cases: [], total: 0 })
}

/** The case of an intent, as soon as there is one. */
async function firstCase(ask: Ask, intentId: string): Promise<Body> {
  const until = Date.now() + caseLimitMs
  for (;;) {
    const { cases: found } = await expecting(ask('GET', `${cases}?intent_id=${intentId}`), 200)
    const [first] = found as Body[]
    if (first) return first
    if (Date.now() > until) throw new Error('there is no case yet')
    await wait(200)
  }
}
