import type { Page } from 'playwright-core'
import type { components } from '../../generated/payments.ts'
import type { Merchant } from './given.ts'
import type { PaymentsBench } from './payments.ts'

type Create = components['schemas']['PaymentIntentCreate']

export interface CheckoutStates {
  create(body?: Partial<Create>): Promise<components['schemas']['PaymentIntent']>
  /** Brings a page to each state that the checkout has, one after the other. */
  visit(page: Page, each: (name: string) => Promise<void>): Promise<void>
}

const everyChannel: NonNullable<Create['allowed_channels']> = ['qris', 'va_bank_a', 'va_bank_b', 'ewallet_wallet_a', 'ewallet_wallet_b', 'otc_store_a', 'paylater_a', 'card_3ds', 'cash']
/** One of each family, with the name of its state. */
const families = { 'pay-qris': 'qris', 'pay-va': 'va_bank_a', 'pay-otc': 'otc_store_a', 'pay-ewallet': 'ewallet_wallet_a', 'pay-later': 'paylater_a', 'pay-card': 'card_3ds', 'pay-cash': 'cash' } as const
const ends = ['paid', 'failed', 'expired', 'cancelled', 'reversed'] as const
/** Amounts with a meaning (docs/simulator.md): refused at its creation, and made in silence. */
const refused = 111_001
const silent = 111_002

/** Every state of the hosted checkout, on payments of one merchant. The provider's time must be short: one state is its silence. */
export async function checkoutStates({ call, clock, database, given, url }: PaymentsBench, merchant: Merchant): Promise<CheckoutStates> {
  const as = await given.apiKey(merchant)
  const create: CheckoutStates['create'] = async (body = {}) => {
    const answer = await call('createPaymentIntent', {
      as, body: { amount_idr: 150_000, description: 'Pesanan 1042: dua bungkus kopi', allowed_channels: everyChannel, return_url: 'https://shop.example/done', ...body },
    })
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
    return answer.body
  }
  const addressOf = async (body: Partial<Create> = {}): Promise<string> => (await create(body)).checkout_url ?? ''
  const choose = (page: Page, channel: string) => page.locator(`button[value="${channel}"]`).click()

  const visitFamilies = async (page: Page, each: (name: string) => Promise<void>): Promise<void> => {
    for (const [name, channel] of Object.entries(families)) {
      await page.goto(await addressOf())
      await choose(page, channel)
      await page.locator('#method').waitFor()
      await each(name)
      if (channel === 'va_bank_a') {
        await page.locator('.folds summary').first().click()
        await each('pay-va-steps')
      }
      if (channel === 'card_3ds') {
        await page.locator('.card a.button').click()
        await page.locator('button[name="cancel"]').waitFor()
        await each('challenge')
      }
    }
  }

  return {
    create,
    async visit(page, each) {
      await page.goto(await addressOf())
      await each('choose')
      await visitFamilies(page, each)
      for (const [name, move] of [['attempt-declined', 'decline'], ['attempt-expired', 'expire'], ['paid-late', 'late']] as const) {
        await page.goto(await addressOf())
        await choose(page, 'qris')
        await page.locator(`button[value="${move}"]`).click()
        await page.locator('#state').waitFor()
        await each(name)
      }
      for (const status of ends) {
        const { checkout_url, id } = await create({ allowed_channels: ['va_bank_a'] })
        await database.query((sql) => sql`update payments.payment_intents set status = ${status}, uses = 1, paid_at = ${clock.now()} where id = ${id}`)
        await page.goto(checkout_url ?? '')
        await each(status)
      }
      for (const [name, amount] of [['refused', refused], ['trouble', silent]] as const) {
        await page.goto(await addressOf({ amount_idr: amount }))
        await choose(page, 'va_bank_a')
        await page.locator(name === 'refused' ? '.notice' : '#state').waitFor()
        await each(name)
      }
      await page.goto(`${url}/pay/zzzzzzzzzz`)
      await each('unknown')
    },
  }
}
