import type { ServerResponse } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { brotliBomb, expandedBytes, gzipBomb } from '../contract-tests/harness/bombs.ts'
import { startReceiver } from '../contract-tests/harness/receiver.ts'
import { webhookSender } from './webhookSender.ts'

const keptBytes = 2048
const blockBytes = 65_536
/** What the buffers of two sockets may hold: it left the receiver, and was never read. */
const mostInFlight = 8 * 1024 * 1024

let respond: (response: ServerResponse) => void = (response) => response.end()
/** Bytes that the last answer's connection could send, TLS apart, once it is closed. */
let taken = Promise.resolve(0)
const receiver = await startReceiver((_, response) => {
  const { socket } = response
  if (!socket) throw new Error('the connection is gone')
  socket.on('error', () => undefined)
  taken = new Promise((resolve) => socket.once('close', () => resolve(socket.bytesWritten)))
  respond(response)
})
const sender = webhookSender({ allowPrivate: true, ca: receiver.certificate, timeoutMs: 10_000 })
const impatient = webhookSender({ allowPrivate: true, ca: receiver.certificate, timeoutMs: 250 })
afterAll(() => Promise.all([sender.close(), impatient.close()]))
const send = (by = sender) => by.send({ url: receiver.url, headers: {}, body: '{}' })

/** Writes as fast as it is taken, until nobody takes it any more. */
async function pour(response: ServerResponse, blocks: Iterable<Buffer>): Promise<void> {
  for (const block of blocks) {
    if (response.destroyed) return
    if (!response.write(block)) await new Promise<void>((resolve) => response.once('drain', resolve).once('close', resolve))
  }
  response.end()
}

function* endless(letter: string): Iterable<Buffer> {
  for (;;) yield Buffer.alloc(blockBytes, letter)
}

function* blocksOf(whole: Buffer): Iterable<Buffer> {
  for (let from = 0; from < whole.length; from += blockBytes) yield whole.subarray(from, from + blockBytes)
}

/** Writes something raw over and over, slowly. */
function drip(response: ServerResponse, begin: string, again: string): void {
  const { socket } = response
  socket?.write(begin)
  const timer = setInterval(() => socket?.write(again), 10)
  socket?.once('close', () => clearInterval(timer))
}

describe('of a body only 2 KiB are kept and no more is read than lies in buffers', () => {
  test('when it never ends', async () => {
    respond = (response) => void pour(response.writeHead(200), endless('a'))
    expect(await send()).toMatchObject({ succeeded: true, status: 200, error: null, body: Buffer.alloc(keptBytes, 'a') })
    expect(await taken).toBeLessThan(mostInFlight)
  })

  test('when it never ends and says an end that is far off', async () => {
    respond = (response) => void pour(response.writeHead(500, { 'Content-Length': String(expandedBytes) }), endless('b'))
    expect(await send()).toMatchObject({ succeeded: false, status: 500, error: 'status', body: Buffer.alloc(keptBytes, 'b') })
    expect(await taken).toBeLessThan(mostInFlight)
  })

  test('when it is one byte longer, exactly as long, or empty', async () => {
    for (const length of [keptBytes + 1, keptBytes, keptBytes - 1, 1, 0]) {
      respond = (response) => response.writeHead(200).end(Buffer.alloc(length, 'c'))
      expect(await send()).toMatchObject({ succeeded: true, body: Buffer.alloc(Math.min(length, keptBytes), 'c') })
    }
  })

  test.each([
    ['gzip', (times?: number) => Promise.resolve(gzipBomb(times)), (bomb: Buffer) => gunzipSync(bomb).length],
    ['br', brotliBomb, (bomb: Buffer) => brotliDecompressSync(bomb).length],
  ])('when it is %s of 10 GB: it is kept as it came and never expanded', async (coding, bombOf, expanded) => {
    // A part more expands to 16 MB more: what 640 of them come to need not be tried.
    expect([expanded(await bombOf(2)), expanded(await bombOf(3))]).toEqual([32_000_000, 48_000_000])
    const bomb = await bombOf()
    respond = (response) => void pour(response.writeHead(200, { 'Content-Encoding': coding }), blocksOf(bomb))
    const before = process.memoryUsage().arrayBuffers
    expect(await send()).toMatchObject({ succeeded: true, status: 200, headers: { 'content-encoding': coding }, body: bomb.subarray(0, keptBytes) })
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(mostInFlight)
    expect(await taken).toBeLessThan(mostInFlight)
  })
})

describe('the time is one for all of an attempt: it ends', () => {
  test('a body that drips', async () => {
    respond = (response) => drip(response, 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', '1\r\na\r\n')
    expect(await send(impatient)).toMatchObject({ succeeded: false, status: 200, error: 'timeout', body: null })
    await taken
  })

  test.each([
    ['a head that drips', 'HTTP/1.1 200 OK\r\nX-Drip: ', 'a'],
    ['a status line that drips', 'HTTP/1.1 200 ', 'a'],
    ['informational answers without end', 'HTTP/1.1 103 Early Hints\r\n\r\n', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'],
    ['silence', '', ''],
  ])('%s', async (_, begin, again) => {
    respond = (response) => drip(response, begin, again)
    expect(await send(impatient)).toMatchObject({ succeeded: false, status: null, error: 'timeout' })
    await taken
  })

  test.each([
    ['trailers without end', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n', `X-Trailer: ${'a'.repeat(1000)}\r\n`],
    ['a chunk extension without end', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;', 'a'.repeat(1000)],
  ])('%s', async (_, begin, again) => {
    respond = (response) => drip(response, begin, again)
    expect(await send(impatient)).toMatchObject({ succeeded: false, status: 200, error: expect.stringMatching(/^(timeout|protocol)$/) as string })
    await taken
  })

  describe('by default', () => {
    afterEach(() => void vi.restoreAllMocks())

    test('after 30 seconds', async () => {
      const timeout = vi.spyOn(AbortSignal, 'timeout')
      respond = (response) => response.writeHead(204).end()
      const standard = webhookSender({ allowPrivate: true, ca: receiver.certificate })
      await send(standard)
      await standard.close()
      expect(timeout.mock.calls).toEqual([[30_000]])
    })
  })
})

describe('broken HTTP', () => {
  test.each([
    ['no HTTP', 'SSH-2.0-OpenSSH\r\n'],
    ['a version that there is not', 'HTTP/9.9 200 OK\r\n\r\n'],
    ['a status of five digits', 'HTTP/1.1 20000 OK\r\n\r\n'],
    ['a status below 100', 'HTTP/1.1 099 OK\r\n\r\n'],
    ['a switch of protocols that nobody asked for', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na'],
    ['a length and chunks', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['a head of 1 MB', `HTTP/1.1 200 OK\r\n${`X-A: ${'a'.repeat(1000)}\r\n`.repeat(1000)}\r\n`],
  ])('is told as such, and the next attempt goes well: %s', async (_, raw) => {
    respond = (response) => response.socket?.end(raw)
    expect(await send()).toMatchObject({ succeeded: false, status: null, error: 'protocol' })
    respond = (response) => response.writeHead(204).end()
    expect(await send()).toMatchObject({ succeeded: true })
  })

  test('a body that ends before its length is a cut connection', async () => {
    respond = (response) => response.socket?.end('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\na')
    expect(await send()).toMatchObject({ succeeded: false, status: 200, error: 'connection_reset' })
  })
})
