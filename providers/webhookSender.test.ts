import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import { startRawServer } from '../contract-tests/harness/canary.ts'
import { startReceiver } from '../contract-tests/harness/receiver.ts'
import { webhookSender } from './webhookSender.ts'
import type { WebhookSender, WebhookSenderOptions } from './webhookSender.ts'

const senders: WebhookSender[] = []
afterAll(async () => void await Promise.all(senders.map((sender) => sender.close())))

const sending = (options: Partial<WebhookSenderOptions>) => {
  const sender = webhookSender({ allowPrivate: true, ...options })
  senders.push(sender)
  return (url: string) => sender.send({ url, headers: { 'Content-Type': 'application/json', 'X-Test': 'a' }, body: '{"a":"é"}' })
}

/** What the next request is answered with. */
let respond: (response: ServerResponse) => void = (response) => response.writeHead(204).end()
const receiver = await startReceiver((_, response) => respond(response))
const send = sending({ ca: receiver.certificate })

describe('an answer', () => {
  test('of 2xx succeeds; the receiver gets one POST with the bytes and headers as they were given', async () => {
    respond = (response) => response.writeHead(202, { 'X-Seen': 'yes' }).end('accepted')
    const before = receiver.received.length
    expect(await send(`${receiver.url}/hook?x=1`)).toMatchObject({ succeeded: true, status: 202, error: null, headers: { 'x-seen': 'yes' }, body: Buffer.from('accepted') })
    const [request, ...more] = receiver.received.slice(before)
    expect(more).toEqual([])
    expect(request).toMatchObject({ method: 'POST', path: '/hook?x=1', headers: { 'x-test': 'a', 'content-type': 'application/json' } })
    expect(request?.body.toString()).toBe('{"a":"é"}')
  })

  test.each([[400, 'status'], [404, 'status'], [410, 'status'], [429, 'status'], [500, 'status'], [503, 'status']])('of %i fails with %s', async (status, error) => {
    respond = (response) => response.writeHead(status).end()
    expect(await send(receiver.url)).toMatchObject({ succeeded: false, status, error })
  })

  test.each([301, 302, 303, 307, 308])('of %i fails, and the redirect is not followed', async (status) => {
    respond = (response) => response.writeHead(status, { Location: `${receiver.url}/elsewhere` }).end()
    const before = receiver.received.length
    expect(await send(receiver.url)).toMatchObject({ succeeded: false, status, error: 'redirect' })
    expect(receiver.received).toHaveLength(before + 1)
  })

  test('of 10 MB is read for 2 KiB', async () => {
    respond = (response) => response.writeHead(200).end(Buffer.alloc(10_000_000, 'a'))
    const answer = await send(receiver.url)
    expect(answer).toMatchObject({ succeeded: true, status: 200 })
    expect(answer.body).toEqual(Buffer.alloc(2048, 'a'))
  })

  test('that is compressed is kept as it came, not expanded', async () => {
    const bomb = gzipSync(Buffer.alloc(1_000_000, 0))
    respond = (response) => response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(bomb)
    expect((await send(receiver.url)).body).toEqual(bomb.subarray(0, 2048))
  })

  test('with headers beyond 8 KiB fails as broken HTTP', async () => {
    respond = (response) => response.writeHead(200, { 'X-Long': 'a'.repeat(9000) }).end()
    expect(await send(receiver.url)).toMatchObject({ succeeded: false, error: 'protocol' })
  })
})

describe('no answer', () => {
  const impatient = sending({ ca: receiver.certificate, timeoutMs: 150 })

  test('in time is a time-out, before the head and within the body', async () => {
    respond = () => undefined
    expect(await impatient(receiver.url)).toMatchObject({ succeeded: false, status: null, error: 'timeout' })
    respond = (response) => response.writeHead(200).write('a')
    expect(await impatient(receiver.url)).toMatchObject({ succeeded: false, status: 200, error: 'timeout' })
  })

  test('from a server that accepts and says nothing is a time-out too', async () => {
    const port = await startRawServer(() => undefined)
    expect(await impatient(`https://localhost:${port}`)).toMatchObject({ succeeded: false, error: 'timeout' })
  })

  test('since the connection was cut is a reset', async () => {
    respond = (response) => response.socket?.destroy()
    expect(await send(receiver.url)).toMatchObject({ succeeded: false, status: null, error: 'connection_reset' })
  })

  test('since nobody listens is a refusal', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    await new Promise((resolve) => server.close(resolve))
    expect(await send(`https://127.0.0.1:${port}`)).toMatchObject({ succeeded: false, error: 'connection_refused' })
  })

  test('since there is no such name', async () => {
    const nowhere = sending({ resolve: () => Promise.reject(Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' })) })
    expect(await nowhere('https://nowhere.example')).toMatchObject({ succeeded: false, error: 'name_not_resolved' })
  })

  test('since the name service is silent counts within the time', async () => {
    const silent = sending({ timeoutMs: 100, resolve: () => new Promise(() => undefined) })
    expect(await silent('https://silent.example')).toMatchObject({ succeeded: false, error: 'timeout' })
  })

  test.each([
    ['a certificate nobody vouches for', () => sending({}), () => receiver.url],
    ['a certificate of another name', () => sending({ ca: receiver.certificate, resolve: () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]) }),
      () => receiver.url.replace('localhost', 'other.example')],
  ])('since it showed %s: nothing was sent', async (_, make, url) => {
    const before = receiver.received.length
    expect(await make()(url())).toMatchObject({ succeeded: false, status: null, error: 'tls' })
    expect(receiver.received).toHaveLength(before)
  })

  test('in TLS fails as TLS', async () => {
    const port = await startRawServer((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'))
    expect(await send(`https://localhost:${port}`)).toMatchObject({ succeeded: false, error: 'tls' })
  })
})
