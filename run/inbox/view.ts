import { answerInWords } from './deliveries.ts'
import type { Delivery } from './deliveries.ts'

/** What the page is asked to show; it is all in the address. */
export interface View {
  /** Looked for in ids and body, whatever the case. */
  q: string
  kind: string
  signature: '' | 'right' | 'wrong'
  answer: string
  /** Number of the delivery that is unfolded. */
  delivery: number | null
}

const longestSearch = 200

export function readView(params: URLSearchParams): View {
  const text = (name: string): string => (params.get(name) ?? '').slice(0, longestSearch)
  const signature = text('signature')
  const delivery = /^[1-9]\d{0,9}$/.exec(text('delivery'))
  return {
    q: text('q').trim(), kind: text('kind'), signature: signature === 'right' || signature === 'wrong' ? signature : '', answer: text('answer'),
    delivery: delivery ? Number(delivery[0]) : null,
  }
}

/** Address of the page that shows a view. */
export function hrefOf(view: View, changes: Partial<View> = {}): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...view, ...changes })) if (value) params.set(name, String(value))
  return params.size === 0 ? '/' : `/?${params.toString()}`
}

/** How an event's kind is called where it has none. */
export const noKind = '(none)'

export function kindOf({ kind }: Pick<Delivery, 'kind'>): string {
  return kind ?? noKind
}

export function isFiltered({ q, kind, signature, answer }: View): boolean {
  return q !== '' || kind !== '' || signature !== '' || answer !== ''
}

/** The deliveries that a view lets through, in their order. */
export function filtered(all: readonly Delivery[], { q, kind, signature, answer }: View): readonly Delivery[] {
  const wanted = q.toLowerCase()
  return all.filter((delivery) =>
    (kind === '' || kindOf(delivery) === kind)
    && (signature === '' || delivery.check.genuine === (signature === 'right'))
    && (answer === '' || answerInWords(delivery.answer) === answer)
    && (wanted === '' || isIn(delivery, wanted)))
}

function isIn({ body, deliveryId }: Delivery, wanted: string): boolean {
  return deliveryId?.toLowerCase().includes(wanted) === true || body.toString().toLowerCase().includes(wanted)
}
