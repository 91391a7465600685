import { html } from '../html.ts'
import type { Html } from '../html.ts'
import { docsLayout } from './docsLayout.ts'
import type { Guide } from './guides.ts'

const request = `curl -sS http://localhost:4000/v1/payments/intents \\
  -H "Authorization: Bearer $BAYAR_KEY" \\
  -H "Content-Type: application/json" \\
  -H "Idempotency-Key: order-1042" \\
  -d '{"amount_idr": 150000,
       "allowed_channels": ["qris"]}'`

const answer = `{
  "id": "0192f3c4-8b21-7d4f-8e63-2a7c9b51f101",
  "status": "open",
  "amount_idr": 150000,
  "checkout_url": "http://localhost:4000/pay/k7m2x9q4ta",
  "qr_string": "00020101021226670017ID.CO…"
}`

const ways = [
  { to: '/docs/quickstart', title: 'Quickstart', text: 'From an empty terminal to a paid payment and a signed webhook, in five minutes.' },
  { to: '/docs/reference/payments', title: 'API reference', text: 'Every operation with its examples and every error that it can give.' },
  { to: '/docs/webhooks', title: 'Webhooks', text: 'Verify signatures in Node, Python, Go, PHP and Java; retries in numbers.' },
  { to: '/docs/sandbox', title: 'Sandbox', text: 'Amounts and codes that decline, arrive late, come twice or are taken back.' },
  { to: '/docs/errors', title: 'Errors', text: 'The whole catalogue: what caused it, and what to do.' },
  { to: '/docs/going-live', title: 'Going live', text: 'The list to go through before real money.' },
]

const promises = [
  { title: 'One request, one payment', text: 'Repeat a request with the same key as often as the network makes you. It is charged once.' },
  { title: 'Proven money is never dropped', text: 'Late, double or taken back: it is recorded, told, and put before a person where it does not fit.' },
  { title: 'The documents are the program', text: 'The servers are compiled from the OpenAPI documents that you generate your client from.' },
]

/** What a visitor sees first. */
export function landingPage(guides: readonly Guide[]): Html {
  return docsLayout({
    title: null, summary: 'Payments and storefronts for Indonesian merchants: QRIS, virtual accounts, e-wallets, retail outlets, pay-later and cards behind one API.',
    path: '/docs', guides, look: 'landing',
    content: html`<section class="hero"><div><h1>Take payments in Indonesia</h1>
<p class="lead">QRIS, virtual accounts, e-wallets, retail outlets, pay-later and cards behind one API, with a hosted checkout and webhooks that lose nothing.</p>
<p class="actions"><a class="button" href="/docs/quickstart">Start in five minutes</a><a class="button quiet" href="/docs/reference">API reference</a></p></div>
<div class="example"><p id="first-request">A payment</p><div class="code"><pre tabindex="0" aria-labelledby="first-request"><code>${request}</code></pre><button type="button" data-copy-code hidden>Copy</button></div>
<p id="first-answer">Its answer, shortened</p><div class="code"><pre tabindex="0" aria-labelledby="first-answer"><code>${answer}</code></pre></div></div></section>
<section aria-labelledby="ways"><h2 id="ways">Where to go</h2><ul class="cards">${ways.map(({ text, title, to }) => html`<li><a href="${to}"><strong>${title}</strong><span>${text}</span></a></li>`)}</ul></section>
<section aria-labelledby="promises"><h2 id="promises">What you can rely on</h2><ul class="promises">${promises.map(({ text, title }) => html`<li><strong>${title}</strong><p>${text}</p></li>`)}</ul></section>`,
  })
}
