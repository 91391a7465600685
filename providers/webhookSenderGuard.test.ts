import { connect } from 'node:net'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { startCanary } from '../contract-tests/harness/canary.ts'
import { refusedAddresses, refusedHosts, refusedNames } from '../contract-tests/harness/hostileAddresses.ts'
import type { ResolveName } from './nameResolver.ts'
import { webhookSender } from './webhookSender.ts'
import type { WebhookAnswer, WebhookSender } from './webhookSender.ts'

const canary = await startCanary()
beforeEach(() => void canary.met.splice(0))

const senders: WebhookSender[] = []
afterAll(async () => void await Promise.all(senders.map((sender) => sender.close())))

const said = (addresses: readonly string[]) => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
const sent = (host: string, resolve: ResolveName, { allowPrivate = false, timeoutMs = 2000 } = {}): Promise<WebhookAnswer> => {
  const sender = webhookSender({ allowPrivate, timeoutMs, resolve })
  senders.push(sender)
  return sender.send({ url: `https://${host}:${canary.port}/`, headers: {}, body: '{}' })
}
const nothingSent = { succeeded: false, status: null, headers: null, body: null, error: 'address_refused' }

test('there are at least 40 forms of a host, each once', () => {
  expect(new Set(refusedHosts).size).toBe(refusedHosts.length)
  expect(refusedHosts.length).toBeGreaterThanOrEqual(40)
})

test.each(['127.0.0.1', '127.1.2.3', '::1'])('the canary listens at %s: a connection that is made there is noted', async (host) => {
  const socket = connect({ host, port: canary.port })
  await new Promise<void>((resolve) => socket.once('connect', resolve))
  await expect.poll(() => canary.met).toEqual([host])
  socket.destroy()
})

test('what is let through reaches the canary', async () => {
  const open = { allowPrivate: true, timeoutMs: 150 }
  expect(await sent('127.0.0.1', () => Promise.reject(new Error('a literal is never asked for')), open)).toMatchObject({ succeeded: false })
  expect(await sent('shop.example', () => Promise.resolve(said(['::1'])), open)).toMatchObject({ succeeded: false })
  expect(canary.met).toEqual(['127.0.0.1', '::1'])
})

describe('no connection is made', () => {
  // Whatever is asked for by name would be this very machine.
  test.each(refusedHosts)('to https://%s', async (host) => {
    expect(await sent(host, () => Promise.resolve(said(['127.0.0.1'])))).toMatchObject(nothingSent)
    expect(canary.met).toEqual([])
  })

  test.each(Object.entries(refusedNames))('to the name %s, which is %j', async (name, addresses) => {
    expect(await sent(name, () => Promise.resolve(said(addresses)))).toMatchObject(nothingSent)
    expect(canary.met).toEqual([])
  })

  test.each(refusedAddresses)('to a name that is %s, alone or beside a public address', async (address) => {
    for (const addresses of [[address], ['8.8.8.8', address], [address, '8.8.8.8']]) {
      expect(await sent('shop.example', () => Promise.resolve(said(addresses)))).toMatchObject(nothingSent)
    }
    expect(canary.met).toEqual([])
  })

  test('over http, even where private networks are let through', async () => {
    const sender = webhookSender({ allowPrivate: true })
    senders.push(sender)
    expect(await sender.send({ url: `http://127.0.0.1:${canary.port}/`, headers: {}, body: '{}' })).toMatchObject(nothingSent)
    expect(canary.met).toEqual([])
  })
})

describe('a name that changes between two look-ups', () => {
  test('is connected to at the address that was judged: it is looked up once for a connection', async () => {
    const answers = ['127.0.0.1', '127.0.0.2', '127.0.0.3']
    await sent('rebinding.example', () => Promise.resolve(said([answers.shift() ?? ''])), { allowPrivate: true, timeoutMs: 150 })
    expect(canary.met).toEqual(['127.0.0.1'])
    expect(answers).toEqual(['127.0.0.2', '127.0.0.3'])
  })

  test('is judged anew for each connection: loopback is refused though it was public when first asked', async () => {
    const answers = [['8.8.8.8'], ['127.0.0.1'], ['8.8.8.8']]
    const resolve: ResolveName = () => Promise.resolve(said(answers.shift() ?? []))
    // What a check when the subscription is written would have seen.
    expect(await resolve('rebinding.example')).toEqual(said(['8.8.8.8']))
    expect(await sent('rebinding.example', resolve)).toMatchObject(nothingSent)
    expect(answers).toEqual([['8.8.8.8']])
    expect(canary.met).toEqual([])
  })
})
