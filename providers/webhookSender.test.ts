import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
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

/** A server of raw bytes: no TLS, no HTTP. */
const rawServer = async (connected: (socket: Socket) => void): Promise<number> => {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    connected(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterAll(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

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
    const port = await rawServer(() => undefined)
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
    const port = await rawServer((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'))
    expect(await send(`https://localhost:${port}`)).toMatchObject({ succeeded: false, error: 'tls' })
  })
})

describe('the address guard', () => {
  let connections = 0
  const canary = rawServer(() => {
    connections += 1
  })
  const forms = [
    '127.0.0.1', '127.1', '127.0.1', '2130706433', '0x7f000001', '0x7f.0.0.1', '0177.0.0.1', '017700000001', '127.0.0.1.', '0', '0.0.0.0', '127.127.127.127',
    '%31%32%37.0.0.1', '①②⑦.⓪.⓪.①', '127。0。0。1', '[::1]', '[0:0:0:0:0:0:0:1]', '[::]', '[::127.0.0.1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]',
    '[::ffff:0:127.0.0.1]', '[64:ff9b::127.0.0.1]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]', '[fe80::1]', '[fc00::1]', '[fd00::1]', '[ff02::1]', '[100::1]',
    '10.0.0.1', '100.64.0.1', '169.254.169.254', '172.16.0.1', '192.0.0.1', '192.168.0.1', '198.18.0.1', '224.0.0.1', '240.0.0.1', '255.255.255.255',
    'localhost', 'localhost.', 'LOCALHOST', 'user@127.0.0.1', 'shop.example@127.0.0.1', 'shop.example\\@127.0.0.1',
  ]

  test.each(forms)('https://%s is not connected to', async (host) => {
    const guarded = sending({ allowPrivate: false, timeoutMs: 2000, resolve: () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]) })
    expect(await guarded(`https://${host}:${await canary}/`)).toMatchObject({ succeeded: false, status: null, error: 'address_refused' })
    expect(connections).toBe(0)
  })

  test('a name is refused when any of its addresses is not public', async () => {
    const mixed = sending({ allowPrivate: false, resolve: () => Promise.resolve([{ address: '8.8.8.8', family: 4 }, { address: '::1', family: 6 }]) })
    expect(await mixed(`https://mixed.example:${await canary}`)).toMatchObject({ error: 'address_refused' })
    expect(connections).toBe(0)
  })

  test('a name that is public when first asked and loopback when connected to is refused: each connection is judged by its own addresses', async () => {
    const answers = ['127.0.0.1', '8.8.8.8']
    const rebinding = sending({ allowPrivate: false, resolve: () => Promise.resolve([{ address: answers.shift() ?? '127.0.0.1', family: 4 }]) })
    expect(await rebinding(`https://rebinding.example:${await canary}`)).toMatchObject({ error: 'address_refused' })
    expect(answers).toEqual(['8.8.8.8'])
    expect(connections).toBe(0)
  })

  test('http is refused even where private networks are let through', async () => {
    expect(await sending({})(`http://127.0.0.1:${await canary}`)).toMatchObject({ error: 'address_refused' })
    expect(connections).toBe(0)
  })

  test('the canary is there: a connection that is let through reaches it', async () => {
    await sending({ timeoutMs: 150 })(`https://127.0.0.1:${await canary}`)
    expect(connections).toBe(1)
  })
})
