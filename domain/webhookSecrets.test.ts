import { randomBytes, randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { sealingKeys } from './sealing.ts'
import { newWebhookSecret, openWebhookSecrets, sealWebhookSecret } from './webhookSecrets.ts'

test('a secret is whsec_ and 256 random bits', () => {
  expect(newWebhookSecret({ randomBytes })).toMatch(/^whsec_[0-9A-Za-z]{43}$/)
  expect(newWebhookSecret({ randomBytes: () => Buffer.alloc(32, 0xff) })).not.toBe(newWebhookSecret({ randomBytes: () => Buffer.alloc(32, 0xfe) }))
})

test('the previous secret signs until its time, and not from then on', () => {
  const sealing = sealingKeys(`test:${randomBytes(32).toString('base64')}`)
  const [id, secret, old] = [randomUUID(), newWebhookSecret({ randomBytes }), newWebhookSecret({ randomBytes })]
  const [sealed, sealedOld] = [secret, old].map((text) => sealWebhookSecret(text, id, sealing, { randomBytes })) as [Buffer, Buffer]
  const until = new Date('2026-11-03T03:04:05.678Z')
  const row = { secret: sealed, previous_secret: sealedOld, previous_secret_until: until }
  expect(openWebhookSecrets(row, id, sealing, new Date(until.getTime() - 1))).toEqual({ secret, previousSecret: old })
  expect(openWebhookSecrets(row, id, sealing, until)).toEqual({ secret, previousSecret: null })
  expect(openWebhookSecrets({ ...row, previous_secret: null, previous_secret_until: null }, id, sealing, until)).toEqual({ secret, previousSecret: null })
  expect(() => openWebhookSecrets(row, randomUUID(), sealing, until)).toThrow()
})
