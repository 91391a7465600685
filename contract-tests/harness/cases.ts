import { randomUUID } from 'node:crypto'
import type { CaseRow } from '../../db/payments/cases.ts'
import { findProviderOperationByKey } from '../../db/payments/providerOperations.ts'
import type { components } from '../../generated/payments.ts'
import { openCase } from '../../jobs/openCase.ts'
import type { CaseDraft } from '../../jobs/openCase.ts'
import type { Merchant } from './given.ts'
import { intentActs } from './intentActs.ts'
import type { PaymentsBench } from './payments.ts'

/** Opens a case of a merchant about a charge of its own, as a proof of payment would. */
export async function openedCase(bench: PaymentsBench, merchant: Merchant, draft: Partial<CaseDraft> = {}): Promise<CaseRow> {
  const { clock, creation, database, given } = bench
  const { charges, created } = intentActs(bench, await given.apiKey(merchant))
  const { id } = await created({ amount_idr: 150_000, allowed_channels: ['va_bank_a'], reference_id: `order-${randomUUID()}` })
  const [charge] = await charges(id)
  const row = await database.tx(async (sql) => {
    const operation = charge && await findProviderOperationByKey(sql, 'simulator', charge.key)
    if (!operation) throw new Error('the intent has no operation')
    return openCase(sql, {
      kind: 'overpayment', operation, reference: `${charge.reference}-2`, expectedIdr: 0, receivedIdr: 150_000, detail: 'The payment intent was paid already.', ...draft,
    }, creation, clock.now())
  })
  if (!row) throw new Error('there is such a case already')
  return row
}

/** The cases of an intent, newest first, as its merchant sees them now: tokens do not live as long as the clock of a test. */
export async function casesOf({ call, given }: PaymentsBench, merchant: Merchant, intentId: string): Promise<components['schemas']['Case'][]> {
  const as = await given.token(merchant, 'merchant_support', `merchant:${merchant.id}`)
  const answer = await call('listCases', { as, query: { intent_id: intentId } })
  if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body.cases
}
