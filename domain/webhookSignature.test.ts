import { createHash, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { newWebhookSecret } from './webhookSecrets.ts'
import { signWebhook } from './webhookSignature.ts'

const sha256 = (...parts: (string | Uint8Array)[]): Buffer => parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest()

/** HMAC from its definition (RFC 2104) with nothing but SHA-256. */
function hmacByDefinition(key: Buffer, message: string): string {
  const block = Buffer.alloc(64)
  ;(key.length > 64 ? sha256(key) : key).copy(block)
  const inner = sha256(block.map((byte) => byte ^ 0x36), message)
  return sha256(block.map((byte) => byte ^ 0x5c), inner).toString('hex')
}

const at = new Date('2026-11-02T03:04:05.678Z')

test.each(['{"a":1}', '', '{"name":"Kopi ☕ مرحبا"}'])('v1 of %j is the HMAC-SHA256 of <t>.<body> under the secret as shown', (body) => {
  const secret = newWebhookSecret({ randomBytes })
  const t = at.getTime() / 1000 - 0.678
  expect(signWebhook(secret, body, at)).toBe(`t=${t},v1=${hmacByDefinition(Buffer.from(secret), `${t}.${body}`)}`)
})

test('RFC 4231, test case 2, holds for the computation that the tests compare with', () => {
  expect(hmacByDefinition(Buffer.from('Jefe'), 'what do ya want for nothing?'))
    .toBe('5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843')
})

test('text and its bytes are signed alike', () => {
  const secret = newWebhookSecret({ randomBytes })
  expect(signWebhook(secret, Buffer.from('é'), at)).toBe(signWebhook(secret, 'é', at))
})
