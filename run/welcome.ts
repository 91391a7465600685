import type { Credentials } from './credentials.ts'

/** The payment that the welcome makes: with several channels, so that the checkout has a choice to show. */
const payment = { amount_idr: 25_000, description: 'Kopi susu', allowed_channels: ['qris', 'va_bank_a', 'ewallet_wallet_a', 'card_3ds'] }

/** What a person is told when everything runs: where things are, one payment from request to webhook. */
export function welcome({ payments_url, storefront_url, identity_url, simulator_url, inbox_url, api_key }: Credentials, seconds: number, watching: boolean): string {
  return `
Bayar is ready after ${seconds.toFixed(1)} s.

  payments    ${payments_url}
  storefront  ${storefront_url}
  identity    ${identity_url}
  simulator   ${simulator_url}  (stands in for the payment providers)
  inbox       ${inbox_url}  (receives the demo merchant's webhooks)

1. Create a payment:

  curl -sS ${payments_url}/v1/payments/intents -H 'Authorization: Bearer ${api_key}' -H 'Content-Type: application/json' -d '${JSON.stringify(payment)}'

2. Open the checkout_url of the answer (${payments_url}/pay/<shortcode>) in a browser and choose how to pay.
3. Press Pay (Bayar) in the sandbox panel of that page; a card asks for its code instead. Without a browser the same is done by:

  curl -sS -X POST ${payments_url}/v1/payments/intents/<id>/sandbox-complete -H 'Authorization: Bearer ${api_key}'

4. Open ${inbox_url} and see payment_intent.created and payment.completed, each with its signature check.

Further keys, log-ins and addresses are in .dev/credentials.json, logs in .dev/log/, the API document in generated/payments.json.
${watching ? 'Processes are started again when a source file changes. ' : ''}Ctrl-C stops everything; the data is kept until make clean.

`
}
