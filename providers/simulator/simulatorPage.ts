import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { apiRoutes } from './api.ts'
import { behaviours, calls } from './behaviours.ts'
import type { CallName } from './behaviours.ts'
import { callbackBody, refundCallbackBody } from './callbacks.ts'
import { controlRoutes } from './control.ts'
import type { StoredCharge, StoredPayment, StoredRefund } from './ledger.ts'
import { magicAmounts, payLaterFloor } from './magicAmounts.ts'
import type { Route } from './route.ts'
import { signatureForms, tellingMembers } from './telling.ts'

const examplePayment: StoredPayment = { reference: 'SIM1-P1', amount_idr: 25_000, completed_at: '2026-08-03T03:04:05.678Z', reversed: false }
const exampleCharge: StoredCharge = {
  reference: 'SIM1', key: '0198…', fingerprint: '', channel: 'va_bank_a', amount_idr: 25_000, multi_use: false, merchant_reference: 'order-1',
  merchant_name: '', description: null, callback_url: null, return_url: null, created_at: '', expires_at: '', status: 'paid', decline: null,
  fields: { va_number: '3816512345678', va_bank: 'bank_a' }, payments: [], completion: null, mute: false, notices: 1,
}
const exampleRefund: StoredRefund = {
  reference: 'SIMR1', key: '0198…', fingerprint: '', charge_key: '0198…', payment_reference: 'SIM1-P1', amount_idr: 5_000, reason: 'other', note: null,
  destination: null, callback_url: null, created_at: '', status: 'failed', completed_at: null,
  decline: { code: 'REFUND_FAILED', message: 'The receiving account could not be credited.' }, ends_as: null, notices: 1,
}

/** Where the page stands. */
export const simulatorPagePath = join(import.meta.dirname, '../../docs/simulator.md')

/** docs/simulator.md, written from the tables that the simulator runs on. */
export function simulatorPage(): string {
  return `<!-- Written by \`node providers/simulator/simulatorPage.ts\` from the simulator's own tables; a test compares the two. -->
# The provider simulator

Stands in for the payment providers in the sandbox: it makes charges, takes the payers' part, calls back with a signature, gives money back. It can
be told to misbehave in every way that providers do. \`make run\` starts it; it keeps charges and refunds in a journal, so that they outlive it.
What a tester has asked for (behaviours, held callbacks) ends with the process.

Every call carries the simulator's API key. Of a development run:

\`\`\`sh
simulator=$(node_modules/.bin/node -p "JSON.parse(fs.readFileSync('.dev/credentials.json')).simulator_url")
key=$(node_modules/.bin/node -p "JSON.parse(fs.readFileSync('.dev/secrets.json')).simulator.api_key")
curl -sS "$simulator/control/charges" -H "Authorization: Bearer $key"
\`\`\`

The last charge of that list has the \`reference\` that the calls below name. A payment that is told twice, with a wrong amount the second time:

\`\`\`sh
curl -sS "$simulator/control/charges/$reference/pay" -H "Authorization: Bearer $key" -d '{}'
curl -sS "$simulator/control/charges/$reference/notify" -H "Authorization: Bearer $key" -d '{"status": "paid", "says": {"amount_idr": 1}}'
\`\`\`

A provider that makes the next charge and never answers:

\`\`\`sh
curl -sS "$simulator/control/next" -H "Authorization: Bearer $key" -d '{"behaviour": "time-out", "after": true}'
\`\`\`

A reversal that overtakes its payment:

\`\`\`sh
curl -sS "$simulator/control/hold" -H "Authorization: Bearer $key" -d '{}'
curl -sS "$simulator/control/charges/$reference/pay" -H "Authorization: Bearer $key" -d '{}'
curl -sS "$simulator/control/charges/$reference/reverse" -H "Authorization: Bearer $key" -d '{}'
curl -sS "$simulator/control/held" -H "Authorization: Bearer $key"
curl -sS "$simulator/control/release" -H "Authorization: Bearer $key" -d '{"ids": ["held-2", "held-1"]}'
\`\`\`

(The ids are those that \`held\` gives; \`{}\` lets all go in order, and ends the holding back.)

## Magic amounts

Whole rupiah. They need no control call: the amount of a charge decides how it is made and how \`sandbox-complete\` (or the sandbox panel of the hosted
page) ends, the amount of a refund what becomes of that.

${table(['amount', 'decides about', 'meaning'], magicAmounts.map(({ amountIdr, creation, completion, meaning }) =>
    [`\`${amountIdr}\``, creation !== null ? 'creation' : completion !== null ? 'completion' : 'refund', meaning]))}

Pay-later channels refuse amounts below \`${payLaterFloor.amountIdr}\` with the code \`${payLaterFloor.code}\`.

## Control calls

A body may be left out where nothing in it is needed; a member that a call does not know is refused. A move answers
\`{"charge": …, "callback": …, "callbacks": […]}\`: the charge as it now is, and what the receiver answered to each callback (\`callback\` is the
last one, null when none was told).

${controlRoutes.map(section).join('\n')}
## Behaviours

Of \`POST /control/next\`. \`on\` names the call:

${table(['on', 'call'], Object.entries(calls).map(([name, call]) => [`\`${name}\``, `\`${call}\``]))}

A fault strikes before the call has any effect, or with \`"after": true\` once it has had it.

${table(['behaviour', 'on', 'fault', 'meaning'], behaviourRows())}

\`time-out-before-charging\` and \`time-out-after-charging\` are \`time-out\` on a creation, before and after.

## Telling

How a callback is told: the members of \`callback\` in a move, and of the body of \`notify\`. Unless told otherwise a callback is true, sent once, and
signed rightly. \`"callback": null\` tells nothing.

${table(['member', 'meaning'], Object.entries(tellingMembers).map(([name, meaning]) => [`\`${name}\``, meaning]))}

${table(['signature', 'meaning'], Object.entries(signatureForms).map(([name, meaning]) => [`\`${name}\``, meaning]))}

A callback is a POST of JSON with the header \`X-Simulator-Signature: t=<unix seconds>,v1=<hex>\`: HMAC-SHA256 under the callback secret over
\`<t>.<body>\`. It goes to the \`callback_url\` of its charge or refund. The body is, of a charge and of a refund:

\`\`\`json
${JSON.stringify(callbackBody(exampleCharge, 'paid', examplePayment), null, 2)}
\`\`\`

\`\`\`json
${JSON.stringify(refundCallbackBody(exampleRefund), null, 2)}
\`\`\`

## The provider's API

What the payments service calls. Errors are \`{"code": …, "message": …}\`: 400 and 422 say that nothing was done and never will be.

${apiRoutes.map(section).join('\n')}`
}

function section({ method, path, does, members }: Route): string {
  const rows = Object.entries(members).map(([name, meaning]) => [`\`${name}\``, meaning])
  return `### \`${method} ${path}\`

${does}
${rows.length === 0 ? '' : `\n${table([method === 'GET' ? 'query' : 'member', 'meaning'], rows)}\n`}`
}

function behaviourRows(): string[][] {
  const kinds: [string, { readonly on: readonly CallName[] | null; readonly fault: boolean; readonly meaning: string }][] = Object.entries(behaviours)
  return kinds.map(([name, { on, fault, meaning }]) => {
    const where = on === null ? 'all' : on.map((call) => `\`${call}\``).join(', ')
    return [`\`${name}\``, where, fault ? 'yes' : 'no', meaning]
  })
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

if (import.meta.main) writeFileSync(simulatorPagePath, simulatorPage())
