/** Kinds of event that a subscription can ask for (brief, payments: Events). */
export const eventKinds = [
  'payment_intent.created', 'payment.completed', 'payment.refunded', 'payment_intent.expired', 'payment.failed', 'settlement.completed',
] as const

export type EventKind = typeof eventKinds[number]

/** Kind of the synthetic event of a test fire; nothing subscribes to it. */
export const testEventKind = 'webhook.test'

export function isEventKind(kind: string): kind is EventKind {
  return (eventKinds as readonly string[]).includes(kind)
}
