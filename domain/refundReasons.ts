/** Why money goes back (decision 4.1); each provider's adapter says which of its own words stands for each. */
export const refundReasons = [
  'customer_request', 'duplicate', 'fraudulent', 'order_cancelled', 'product_returned', 'product_not_received', 'product_unsatisfactory', 'other',
] as const

export type RefundReason = (typeof refundReasons)[number]
