import { listEventBodies } from '../../db/payments/eventList.ts'
import { listPayments } from '../../db/payments/paymentAttemptList.ts'
import { listPaymentIntents } from '../../db/payments/paymentIntentList.ts'
import type { Scope } from '../../db/payments/paymentIntents.ts'
import type { Sql } from '../../db/sql.ts'
import { pageOf } from '../../domain/paging.ts'
import { readFilters } from '../../handlers/payments/payment-intents/moneyFilters.ts'
import { explaining } from '../queryPlans.ts'
import type { SeededMerchants } from './seed.ts'

export type ListName = 'listPaymentIntents' | 'listPayments' | 'listEvents'

/** Who asks: the big merchant, one of the small ones, somebody at three of them, somebody at all of the tenant. */
export type Asker = 'big' | 'small' | 'several' | 'tenant'

/** A question to a list. */
export interface ListCase {
  list: ListName
  name: string
  asker: Asker
  /** Without page and limit. */
  query: Record<string, string>
  page: number
  limit: number
  /** Its p99 has a bar: a page of the unfiltered list, or a search that few entries match. */
  hasBar: boolean
}

export const paths: Record<ListName, string> = { listPaymentIntents: '/v1/payments/intents', listPayments: '/v1/payments', listEvents: '/v1/payments/events' }

export function scopeOf(asker: Asker, { big, others }: SeededMerchants): Scope {
  const { tenantId } = big
  const [first, second] = others
  if (!first || !second) throw new Error('there are no other merchants')
  const ids = { big: [big.merchantId], small: [first.merchantId], several: [big.merchantId, first.merchantId, second.merchantId], tenant: null }
  return { tenantId, merchantIds: ids[asker] }
}

/** Asks a list as its operation does. */
export function ask(sql: Sql, { list, query, page, limit }: ListCase, scope: Scope, now: Date): Promise<{ rows: object[], total: number }> {
  const asked = pageOf({ page, limit })
  if (list === 'listEvents') return listEventBodies(sql, scope, { kind: query['kind'] ?? null, since: query['since'] === undefined ? null : new Date(query['since']) }, asked)
  const filters = readFilters(filtersIn(query))
  return list === 'listPaymentIntents' ? listPaymentIntents(sql, scope, filters, asked, now) : listPayments(sql, scope, filters, asked, now)
}

/** The plans of the statements that a question asks, as they are kept in db/plans. */
export async function keptPlan(sql: Sql, one: ListCase, scope: Scope, now: Date): Promise<string> {
  const plans: string[] = []
  await ask(explaining(sql, plans), one, scope, now)
  // How the total is read depends on how many merchants there are.
  const texts = plans.map((plan) => plan.includes('list_totals') ? 'the maintained total' : plan)
  return `## ${one.name}, ${one.asker}\n\n${texts.join('\n\n')}\n`
}

/** The query as the pipeline hands it over: `metadata[key]` as a member of `metadata`. */
function filtersIn(query: Record<string, string>): Parameters<typeof readFilters>[0] {
  const of = (isMetadata: boolean): [string, string][] => Object.entries(query).filter(([name]) => name.startsWith('metadata[') === isMetadata)
  const metadata = of(true).map(([name, value]): [string, string] => [name.slice('metadata['.length, -1), value])
  return { ...Object.fromEntries(of(false)), ...metadata.length > 0 && { metadata: Object.fromEntries(metadata) } }
}

const askers: readonly Asker[] = ['big', 'several', 'tenant']
const rare = 'gudeg'

/** Every question that is measured and whose plan is kept. `count` is how many intents the big merchant has. */
export function listCases(count: number, now: Date): ListCase[] {
  const day = (ago: number): string => new Date(now.getTime() - ago * 86_400_000).toISOString()
  const of = (list: ListName) => (name: string, asker: Asker, query: Record<string, string> = {}, more: Partial<ListCase> = {}): ListCase =>
    ({ list, name, asker, query, page: 1, limit: 20, hasBar: false, ...more })
  const bar = { hasBar: true }
  const pages = (list: ListName): ListCase[] => askers.flatMap((asker) => [
    of(list)('page 1', asker, {}, bar), of(list)('page 500', asker, {}, { ...bar, page: 500 }),
    ...count >= 50_000 ? [of(list)('page 500 of 100', asker, {}, { ...bar, page: 500, limit: 100 })] : [],
  ])
  const money = (list: 'listPaymentIntents' | 'listPayments'): ListCase[] => {
    const at = of(list)
    const [common, seldom] = list === 'listPayments' ? ['succeeded', 'pending'] : ['paid', 'open']
    return [
      ...pages(list),
      ...askers.map((asker) => at('search, rare', asker, { search: rare }, bar)),
      at('search, a reference', 'big', { search: `order-${count}` }, bar),
      at('search, absent', 'big', { search: 'rawon' }, bar),
      at('search, only of the others', 'big', { search: 'teh melati' }),
      at('search, only of the big one', 'small', { search: 'kopi susu' }),
      at('search, common', 'small', { search: 'pesanan' }, bar),
      at('search, common', 'big', { search: 'pesanan' }),
      at('search, two letters', 'big', { search: 'zz' }),
      at('status, common', 'big', { status: common }), at('status, rare', 'big', { status: 'failed' }), at('status, rare', 'tenant', { status: 'failed' }),
      at('status, by the clock', 'big', { status: 'expired' }), at('status, by the clock, rare', 'big', { status: seldom }),
      at('channel, common', 'big', { channel: 'qris' }), at('channel, rare', 'big', { channel: 'paylater_a' }),
      at('status and channel', 'big', { status: common, channel: 'qris' }),
      at('created in a month', 'big', { created_from: day(60), created_to: day(30) }),
      at('paid on a day', 'big', { paid_from: day(31), paid_to: day(30) }),
      at('reference_id', 'big', { reference_id: 'order-1001' }), at('reference_id', 'tenant', { reference_id: 'order-1001' }),
      at('metadata, one', 'big', { 'metadata[order_id]': '1001' }), at('metadata, one', 'tenant', { 'metadata[order_id]': '1001' }),
      at('metadata, a tenth', 'big', { 'metadata[shop]': 'shop-7' }),
      at('search and status', 'big', { search: 'pesanan', status: 'failed' }),
    ]
  }
  const events = of('listEvents')
  return [
    ...money('listPaymentIntents'), ...money('listPayments'), ...pages('listEvents'),
    events('kind, common', 'big', { kind: 'payment.completed' }), events('kind, absent', 'big', { kind: 'payment.refunded' }),
    events('kind, common', 'tenant', { kind: 'payment.completed' }), events('since a day', 'big', { since: day(1) }), events('since a month', 'tenant', { since: day(30) }),
  ]
}
