import type { Merchant } from '../harness/given.ts'
import type { PaymentsBench } from '../harness/payments.ts'
import { letterOf } from './network.ts'
import type { ChargeView, Letter } from './network.ts'
import type { Channel, Lie } from './steps.ts'

/** An intent of a merchant, and a charge that was begun for it, if any. */
export interface StoredIntent {
  id: string
  shortcode: string
  reference_id: string
  key: string | null
  channel: Channel | null
}

/** What the API does not tell: intents that are hidden, and the keys under which charges are asked for. */
export function readRows({ database }: PaymentsBench, merchantId: string): Promise<StoredIntent[]> {
  return database.query((sql) => sql<StoredIntent[]>`
    select i.id, i.shortcode, i.reference_id, o.id as key, a.channel
    from payments.payment_intents i
    left join payments.provider_operations o on o.intent_id = i.id
    left join payments.payment_attempts a on a.id = o.attempt_id
    where i.merchant_id = ${merchantId}
    order by o.created_at, o.id`)
}

/** Work that nobody has done, in words. */
export async function readUnfinished({ database }: PaymentsBench, merchantId: string): Promise<string[]> {
  const rows = await database.query((sql) => sql<{ what: string }[]>`
    select 'operation ' || o.id as what from payments.provider_operations o where o.merchant_id = ${merchantId} and o.recovery_point = 'started'
    union all
    select 'withdrawal of attempt ' || w.attempt_id from payments.charge_withdrawals w where w.merchant_id = ${merchantId} and w.done_at is null
    union all
    select 'callback ' || c.event_id || ' ' || c.outcome from payments.provider_callbacks c
    join payments.payment_intents i on i.id = c.intent_id and i.merchant_id = ${merchantId}
    where c.outcome = 'received'`)
  return rows.map(({ what }) => what)
}

/** A token of the merchant's owner, new when the old one is about to end. */
export function ownersToken({ clock, given }: PaymentsBench, merchant: Merchant): () => Promise<string> {
  let token = ''
  let until = 0
  return async () => {
    const now = clock.now().getTime()
    if (now >= until) {
      token = await given.token(merchant, 'merchant_owner', `merchant:${merchant.id}`)
      until = now + 500_000
    }
    return token
  }
}

/** Every page of a list. */
export async function readAll<Name extends string, Item>(
  list: (query: Record<string, string>) => Promise<{ status: number, body: unknown }>, name: Name,
): Promise<Item[]> {
  const items: Item[] = []
  for (let page = 1; ; page += 1) {
    const { status, body } = await list({ limit: '100', page: String(page) })
    if (status !== 200) throw new Error(`${name}: ${status} ${JSON.stringify(body)}`)
    const { total_pages: pages, [name]: some } = body as { total_pages: number } & Record<Name, Item[]>
    items.push(...some)
    if (page >= pages) return items
  }
}

/** A callback of the right form and signature that says what the provider, when it is asked, does not. */
export function lieAbout(charge: ChargeView, about: Lie, number: number, now: Date): Letter {
  const { channel, key, merchant_reference, payments, reference } = charge
  const taken = about === 'payment' ? undefined : payments.findLast(({ reversed }) => !reversed)
  return letterOf(JSON.stringify({
    event_id: `${reference}-L${number}`, event: 'charge.paid', key, reference, channel, status: 'paid',
    merchant_reference: about === 'reference' ? `${merchant_reference}X` : merchant_reference,
    currency: about === 'currency' ? 'USD' : 'IDR', amount_idr: (taken?.amount_idr ?? charge.amount_idr) + (about === 'amount' ? 1000 : 0),
    payment_reference: taken?.reference ?? `${reference}-P${payments.length + 1}`, completed_at: taken?.completed_at ?? now.toISOString(), decline: null, payer: null,
  }))
}
