import { channelOf } from '../../domain/channels.ts'
import { decline, statusOf } from './charges.ts'
import { complete } from './completion.ts'
import type { Reply } from './exchange.ts'
import type { StoredCharge } from './ledger.ts'
import type { Shop } from './shop.ts'

/** The wallet's or pay-later provider's own page, where the payer ends up by redirect_url or payment_url. */
export function showPage(shop: Shop, charge: StoredCharge): Reply {
  const status = statusOf(charge, shop.runtime.now())
  const amount = charge.amount_idr.toLocaleString('id-ID')
  const at = `/pages/${charge.reference}`
  const choice = status !== 'pending' ? `<p>This payment is ${status}.</p>` : `
<form method="post" action="${at}/pay"><button>Pay</button></form>
<form method="post" action="${at}/decline"><button>Decline</button></form>`
  return {
    status: 200,
    html: `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Simulated payment</title>
<style>
body { font: 1rem/1.5 system-ui; max-width: 24rem; margin: 3rem auto; padding: 0 1rem }
button { font: inherit; padding: .5rem 2rem }
</style></head>
<body><h1>Simulated ${escaped(channelOf(charge.channel).name_en)}</h1>
<p>${escaped(charge.merchant_name)}<br><strong>Rp ${amount}</strong></p>${choice}
${charge.return_url === null ? '' : `<p><a href="${escaped(charge.return_url)}">Back to the shop</a></p>`}
</body></html>
`,
  }
}

/** The payer's choice on that page; then back to the shop, or to the page where there is no way back. */
export async function choose(shop: Shop, charge: StoredCharge, move: string): Promise<Reply> {
  if (statusOf(charge, shop.runtime.now()) === 'pending') {
    if (move === 'pay') await complete(shop, charge, false)
    else await decline(shop, charge, { code: 'PAYER_DECLINED', message: 'The payer declined.' })
  }
  return { status: 303, location: charge.return_url ?? `/pages/${charge.reference}` }
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
