import { describe, expect, test } from 'vitest'
import { openedCase } from '../../../contract-tests/harness/cases.ts'
import { startPayments } from '../../../contract-tests/harness/payments.ts'

const bench = await startPayments()
const { call, clock, database, given } = bench
const merchant = await given.merchant()
const owner = await given.token(merchant, 'merchant_owner', `merchant:${merchant.id}`)
const list = async (query: Record<string, string> = {}, as = owner) => {
  const answer = await call('listCases', { as, query })
  if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}
const idsOf = async (query: Record<string, string>) => (await list(query)).cases.map(({ id }) => id)
const open: typeof openedCase = async (...parts) => {
  clock.advance(1000)
  return openedCase(...parts)
}

const overpaid = await open(bench, merchant)
const mismatched = await open(bench, merchant, {
  kind: 'payment_mismatch', reference: 'PSP-100%_1', expectedIdr: 150_000, receivedIdr: 149_999, detail: 'The amount differs.',
})
const reversed = await open(bench, merchant, { kind: 'reversal', receivedIdr: 150_000, expectedIdr: 150_000 })
await call('transitionCase', { as: owner, params: { id: overpaid.id }, body: { status: 'resolved', note: 'Paid back to the payer.' } })

describe('200', () => {
  test('newest first, each as getCase shows it, in pages whose totals agree', async () => {
    const all = await list()
    expect(all).toMatchObject({ total: 3, page: 1, limit: 20, total_pages: 1 })
    expect(all.cases.map(({ id }) => id)).toEqual([reversed.id, mismatched.id, overpaid.id])
    expect(all.cases[0]).toEqual((await call('getCase', { as: owner, params: { id: reversed.id } })).body)
    expect(await list({ page: '2', limit: '2' })).toMatchObject({ total: 3, page: 2, limit: 2, total_pages: 2, cases: [{ id: overpaid.id }] })
    expect(await list({ page: '3', limit: '2' })).toMatchObject({ total: 3, cases: [] })
  })

  test('cases of one instant have an order of their own, the same on every page', async () => {
    const twins = await given.merchant()
    const as = await given.token(twins, 'merchant_owner', `merchant:${twins.id}`)
    for (let made = 0; made < 5; made += 1) await openedCase(bench, twins)
    const whole = (await list({}, as)).cases.map(({ id }) => id)
    const pages = await Promise.all(['1', '2', '3', '4', '5'].map(async (page) => (await list({ page, limit: '1' }, as)).cases[0]?.id))
    expect(pages).toEqual(whole)
    expect(whole).toEqual([...whole].sort().reverse())
  })

  test.each([
    ['kind', { kind: 'payment_mismatch' }, [mismatched]], ['a kind that there is not', { kind: 'dispute' }, []],
    ['status open', { status: 'open' }, [reversed, mismatched]], ['status resolved', { status: 'resolved' }, [overpaid]],
    ['intent_id', { intent_id: reversed.intent_id ?? '' }, [reversed]],
    ['created_from, which includes its instant', { created_from: mismatched.opened_at.toISOString() }, [reversed, mismatched]],
    ['created_to, which does not', { created_to: mismatched.opened_at.toISOString() }, [overpaid]],
    ['all together', { kind: 'reversal', status: 'open', intent_id: reversed.intent_id ?? '', search: 'sim' }, [reversed]],
  ])('narrowed by %s', async (_, query, expected) => {
    expect(await idsOf(query)).toEqual(expected.map(({ id }) => id))
    expect((await list(query)).total).toBe(expected.length)
  })

  test('search: any part of provider\'s reference, detail, note, and of the intent\'s shortcode and reference, in any case and literally', async () => {
    const intent = await call('getPaymentIntent', { as: owner, params: { id: mismatched.intent_id ?? '' } })
    if (intent.status !== 200) throw new Error(JSON.stringify(intent.body))
    for (const search of ['psp-100', '100%', 'AMOUNT', intent.body.shortcode.slice(2, 8), intent.body.reference_id?.slice(8) ?? '']) {
      expect(await idsOf({ search }), search).toEqual([mismatched.id])
    }
    expect(await idsOf({ search: 'paid back' })).toEqual([overpaid.id])
    expect(await idsOf({ search: '100_' })).toEqual([])
  })

  test('a console user sees every merchant of its reach, or the one it names', async () => {
    const sibling = await given.merchant({ tenantId: merchant.tenantId })
    const own = await openedCase(bench, sibling)
    const admin = await given.token(merchant, 'tenant_admin', '*')
    expect(await list({}, admin)).toMatchObject({ total: 4 })
    expect(await list({ merchant_id: sibling.id }, admin)).toMatchObject({ total: 1, cases: [{ id: own.id }] })
    expect(await list()).toMatchObject({ total: 3 })
  })

  test('merchant_support may read them', async () => {
    expect(await list({}, await given.token(merchant, 'merchant_support', `merchant:${merchant.id}`))).toMatchObject({ total: 3 })
  })

  test('an intent that is hidden is named by no case, nor found by its own words', async () => {
    const hiding = await given.merchant()
    const as = await given.token(hiding, 'merchant_owner', `merchant:${hiding.id}`)
    const { intent_id } = await openedCase(bench, hiding)
    await database.query((sql) => sql`update payments.payment_intents set visible = false where id = ${intent_id}`)
    expect(await list({}, as)).toMatchObject({ total: 1, cases: [{ intent_id: null, attempt_id: null }] })
    for (const query of [{ search: 'order-' }, { intent_id: intent_id ?? '' }]) expect(await list(query, as)).toMatchObject({ total: 0, cases: [] })
  })
})

test.each([[{ created_from: 'yesterday' }, 'created_from'], [{ intent_id: 'k7m2x9q4ta' }, 'intent_id'], [{ page: '10001', limit: '100' }, 'page']])(
  '400 validation_failed: %j names %s', async (query, field) => {
    expect(await call('listCases', { as: owner, query }))
      .toMatchObject({ status: 400, body: { error: 'validation_failed', fields: { [field]: expect.any(String) as string } } })
  })

test('404: a merchant out of reach', async () => {
  const stranger = await given.merchant()
  expect(await call('listCases', { as: owner, query: { merchant_id: stranger.id } })).toMatchObject({ status: 404, body: { error: 'not_found' } })
})
