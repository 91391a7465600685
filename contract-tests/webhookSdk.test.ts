import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { webhookHeaders } from '../domain/webhookHeaders.ts'
import { newWebhookSecret } from '../domain/webhookSecrets.ts'
import { signWebhook } from '../domain/webhookSignature.ts'
import { webhookVectors } from '../run/webhookVectors.ts'
import type { WebhookVector } from '../run/webhookVectors.ts'
import { verify } from '../sdk/webhooks/dist/index.js'
import type { RefusalReason, WebhookEvent, WebhookHeaders } from '../sdk/webhooks/dist/index.js'

const folder = fileURLToPath(new URL('../sdk/webhooks/', import.meta.url))
const read = (name: string): string => readFileSync(join(folder, name), 'utf8')
const now = new Date('2026-11-02T03:04:05.678Z')
const body = JSON.stringify({ id: '0192f3c4-9e11-7a02-b1d5-6f308e21c1b3', event: 'webhook.test', data: { note: 'kopi ☕' } })
const [secret, old] = [newWebhookSecret({ randomBytes }), newWebhookSecret({ randomBytes })]
const signature = signWebhook(secret, body, now)

const verdict = async (...request: Parameters<typeof verify>): Promise<'ok' | RefusalReason> => {
  const result = await verify(...request)
  return result.ok ? 'ok' : result.reason
}

describe('the vectors', () => {
  const { vectors } = JSON.parse(read('vectors.json')) as { vectors: WebhookVector[] }

  test.each(vectors.map((vector) => [vector.name, vector] as const))('%s', async (_, vector) => {
    const headers = { 'x-service-signature': vector.signature ?? undefined, 'x-service-signature-previous': vector.previous ?? undefined }
    expect(await verdict(vector.body, headers, vector.secrets, { now: new Date(vector.now * 1000) })).toBe(vector.verdict)
  })

  test('are the same in lines as in JSON', () => {
    const [names = '', ...lines] = read('vectors.tsv').trimEnd().split('\n').map((line) => line.split('\t'))
    expect(names).toEqual(['name', 'verdict', 'now', 'secrets', 'signature', 'previous', 'body'])
    expect(lines.map(([name, verdictOf, time, secrets = '', header, previous, text = '']) => ({
      name, verdict: verdictOf, now: Number(time), secrets: secrets.split(' '), signature: header === '' ? null : header,
      previous: previous === '' ? null : previous, body: Buffer.from(text, 'base64').toString(),
    }))).toEqual(vectors)
    expect(vectors).toEqual(webhookVectors)
  })

  test.skipIf(spawnSync('openssl', ['version']).status !== 0)('that are right are so for openssl too', () => {
    const right = vectors.filter((vector) => vector.verdict === 'ok' && vector.previous === null)
    expect(right.length).toBeGreaterThan(5)
    for (const vector of right) {
      const [, t = ''] = /t=(\d+)/.exec(vector.signature ?? '') ?? []
      const options = ['-sha256', '-mac', 'HMAC', '-macopt', `key:${vector.secrets[0] ?? ''}`, '-r']
      const digest = execFileSync('openssl', ['dgst', ...options], { input: `${t}.${vector.body}` })
      expect(vector.signature, vector.name).toContain(`v1=${digest.toString().slice(0, 64)}`)
    }
  })
})

describe('what our own sender sends', () => {
  test('is verified, whatever the body and the secrets, by the current header and by the previous one', async () => {
    await fc.assert(fc.asyncProperty(fc.json(), fc.string({ unit: 'grapheme', minLength: 1 }), async (data, word) => {
      const text = `{"id":"1","event":"payment.completed","data":${data}}`
      const headers = webhookHeaders({ secret: word, previousSecret: `${word}x`, body: text, kind: 'payment.completed', deliveryId: '1', at: now })
      const event = JSON.parse(text) as WebhookEvent
      expect(await verify(text, headers, word, { now })).toEqual({ ok: true, event, signedBy: 'current' })
      expect(await verify(Buffer.from(text), headers, [`${word}y`, `${word}x`], { now })).toEqual({ ok: true, event, signedBy: 'previous' })
      expect(await verdict(text, headers, `${word}y`, { now })).toBe('mismatch')
      expect(await verdict(`${text} `, headers, word, { now })).toBe('mismatch')
    }), { numRuns: 50 })
  })

  test('is verified by the real clock when no time is given', async () => {
    expect(await verdict(body, { 'X-Service-Signature': signWebhook(secret, body, new Date()) }, secret)).toBe('ok')
    expect(await verdict(body, { 'X-Service-Signature': signWebhook(secret, body, new Date(Date.now() - 302_000)) }, secret)).toBe('stale')
  })

  test('may be held to another tolerance', async () => {
    const later = new Date(now.getTime() + 60_000)
    expect(await verdict(body, { 'X-Service-Signature': signature }, secret, { now: later, toleranceSeconds: 59 })).toBe('stale')
    expect(await verdict(body, { 'X-Service-Signature': signature }, secret, { now: later, toleranceSeconds: 61 })).toBe('ok')
    expect(await verdict(body, { 'X-Service-Signature': signature }, secret, { now: new Date(Number.NaN) })).toBe('stale')
  })
})

describe('a request', () => {
  const padded = new Uint8Array(Buffer.from(`__${body}__`))
  const bodies: [string, Parameters<typeof verify>[0]][] = [
    ['text', body], ['a Buffer', Buffer.from(body)], ['a part of a larger array', padded.subarray(2, -2)], ['an ArrayBuffer', padded.slice(2, -2).buffer],
  ]
  test.each(bodies)('may have its body as %s', async (_, bytes) => {
    expect(await verdict(bytes, { 'x-service-signature': signature }, secret, { now })).toBe('ok')
  })

  const heads: [string, WebhookHeaders, string][] = [
    ['Node has them', { 'x-service-signature': signature, host: 'a' }, 'ok'],
    ['they were written', { 'X-Service-Signature': signature }, 'ok'],
    ['fetch has them', new Headers({ 'X-Service-Signature': signature }), 'ok'],
    ['lists', { 'x-service-signature': [signature] }, 'ok'],
    ['none', {}, 'missing'],
    ['none, by fetch', new Headers(), 'missing'],
    ['undefined', { 'x-service-signature': undefined }, 'missing'],
    ['an empty one', { 'x-service-signature': '' }, 'malformed'],
    ['two in a list', { 'x-service-signature': [signature, signature] }, 'malformed'],
    ['two in different case', { 'x-service-signature': signature, 'X-Service-Signature': signature }, 'malformed'],
    ['two by fetch', new Headers([['X-Service-Signature', signature], ['X-Service-Signature', signature]]), 'malformed'],
    ['two previous ones', { 'x-service-signature': signature, 'x-service-signature-previous': [signature, signature] }, 'malformed'],
  ]
  test.each(heads)('may have its headers as %s', async (_, headers, wanted) => {
    expect(await verdict(body, headers, secret, { now })).toBe(wanted)
  })

  test('never makes it throw, whatever stands in its header and body', async () => {
    const parts = fc.array(fc.constantFrom('t=1793588645', 'v1=', 'a=b', ',', '=', 'constructor=1', '__proto__=1', signature))
    const header = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), parts.map((list) => list.join(',')))
    await fc.assert(fc.asyncProperty(header, fc.uint8Array(), async (value, bytes) => {
      const result = await verify(bytes, { 'x-service-signature': value }, secret, { now })
      expect(result.ok ? 'ok' : result.reason).toMatch(/^(malformed|stale|mismatch)$/)
    }), { numRuns: 300 })
  })

  test.each(['kopi', '1', 'null', '[]', '{"id":1,"event":"payment.completed"}', '{"id":"1"}', ''])('whose signed body is %j brings no event', async (text) => {
    expect(await verdict(text, { 'x-service-signature': signWebhook(secret, text, now) }, secret, { now })).toBe('malformed')
  })

  test('whose signed body is no UTF-8 brings no event', async () => {
    const bytes = Buffer.concat([Buffer.from('{"id":"1","event":"'), Buffer.from([0xff]), Buffer.from('"}')])
    expect(await verdict(bytes, { 'x-service-signature': signWebhook(secret, bytes, now) }, secret, { now })).toBe('malformed')
  })

  test('says by which header it was verified, so that a receiver knows that its secret was rotated', async () => {
    const headers = { 'x-service-signature': signature, 'x-service-signature-previous': signWebhook(old, body, now) }
    expect(await verify(body, headers, old, { now })).toMatchObject({ ok: true, signedBy: 'previous' })
    expect(await verify(body, headers, [old, secret], { now })).toMatchObject({ ok: true, signedBy: 'current' })
  })
})

test.each([
  ['parsed JSON as body', [{}, {}, secret]], ['no body', [undefined, {}, secret]], ['no headers', [body, undefined, secret]],
  ['no secret', [body, {}, undefined]],
  ['an empty secret', [body, {}, '']], ['no secrets', [body, {}, []]], ['an empty secret among others', [body, {}, [secret, '']]],
])('%s is a mistake of the program and throws', async (_, request) => {
  await expect(verify(...request as Parameters<typeof verify>)).rejects.toThrow(TypeError)
})

describe('where Web Crypto is no global, as in Node 18,', () => {
  afterEach(() => void vi.unstubAllGlobals())

  test('it is found all the same', async () => {
    vi.stubGlobal('crypto', undefined)
    expect(await verdict(body, { 'x-service-signature': signature }, secret, { now })).toBe('ok')
  })
})

test('events are told apart by their kind, for the compiler too', async () => {
  const result = await verify(body, { 'x-service-signature': signature }, secret, { now })
  if (!result.ok) throw new Error(result.reason)
  const told = ({ event, ...rest }: WebhookEvent): string => {
    switch (event) {
      case 'payment.completed': return (rest.data as Extract<WebhookEvent, { event: 'payment.completed' }>['data']).attempt.status
      default: return event
    }
  }
  const { event } = result
  if (event.event === 'payment.completed') {
    const amount: number = event.data.attempt.amount_idr
    expect(amount).toBeGreaterThan(0)
  }
  // @ts-expect-error a creation has no attempt
  if (event.event === 'payment_intent.created') expect(event.data.attempt).toBeUndefined()
  expect(told(event)).toBe('webhook.test')
})

describe('the package', () => {
  const manifest = JSON.parse(read('package.json')) as { files: string[], exports: Record<string, unknown>, dependencies?: unknown }

  test('needs nothing but itself', () => {
    expect(manifest.dependencies).toBeUndefined()
    expect([...read('dist/index.js').matchAll(/(?:from|import\()\s*'([^']+)'/g)].map(([, name]) => name)).toEqual(['node:crypto'])
  })

  test('is installed as it is: a program that imports it compiles under two ways of resolving and runs', () => {
    const program = mkdtempSync(join(tmpdir(), 'bayar-receiver-'))
    try {
      const home = join(program, 'node_modules', '@bayar', 'webhooks')
      mkdirSync(home, { recursive: true })
      for (const name of ['package.json', ...manifest.files]) cpSync(join(folder, name), join(home, name), { recursive: true })
      writeFileSync(join(program, 'package.json'), '{"type":"module"}')
      writeFileSync(join(program, 'receiver.ts'), `
        import { verify } from '@bayar/webhooks'
        import type { WebhookEvent } from '@bayar/webhooks'
        const paid = (event: WebhookEvent): number => event.event === 'payment.completed' ? event.data.intent.paid_idr : 0
        const result = await verify(${JSON.stringify(body)}, { 'x-service-signature': '${signature}' }, '${secret}', { now: new Date('${now.toISOString()}') })
        if (!result.ok) throw new Error(result.reason)
        paid(result.event)
      `)
      const compile = (...options: string[]) => spawnSync(process.execPath, [
        fileURLToPath(new URL('../node_modules/typescript/bin/tsc', import.meta.url)), '--strict', '--target', 'es2022', '--lib', 'es2022,dom',
        ...options, 'receiver.ts',
      ], { cwd: program, encoding: 'utf8' })
      expect(compile('--module', 'esnext', '--moduleResolution', 'bundler', '--noEmit').stdout).toBe('')
      expect(compile('--module', 'nodenext').stdout).toBe('')
      expect(execFileSync(process.execPath, ['receiver.js'], { cwd: program, encoding: 'utf8' })).toBe('')
    } finally {
      rmSync(program, { recursive: true })
    }
  })
})
