import type { Credentials } from './credentials.ts'

/** What a person is told when everything runs: where things are, one request to make, what to try next. */
export function welcome({ payments_url, storefront_url, identity_url, simulator_url, api_key }: Credentials, seconds: number, watching: boolean): string {
  return `
Bayar is ready after ${seconds.toFixed(1)} s.

  payments    ${payments_url}
  storefront  ${storefront_url}
  identity    ${identity_url}
  simulator   ${simulator_url}  (stands in for the payment providers)

Create a payment intent:

  curl -sS ${payments_url}/v1/payments/intents -H 'Authorization: Bearer ${api_key}' -H 'Content-Type: application/json' -d '{"amount_idr":25000,"allowed_channels":["ewallet_wallet_a"]}'

Next: open the redirect_url of the answer in a browser and press Pay, then read the intent with GET ${payments_url}/v1/payments/intents/<id>.
Further keys, log-ins and addresses are in .dev/credentials.json, logs in .dev/log/, the API document in generated/payments.json.
${watching ? 'Processes are started again when a source file changes. ' : ''}Ctrl-C stops everything; the data is kept until make clean.

`
}
