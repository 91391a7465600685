import { createHmac } from 'node:crypto'

/**
 * The value of X-Service-Signature: `t=<unix seconds>,v1=<hex>`, v1 being the HMAC-SHA256 of `<t>.<body>` (brief,
 * payments: Events). The key is the secret's UTF-8 bytes as shown, `whsec_` included (decision 6.1).
 */
export function signWebhook(secret: string, body: string | Buffer, at: Date): string {
  const t = Math.floor(at.getTime() / 1000)
  return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')}`
}
