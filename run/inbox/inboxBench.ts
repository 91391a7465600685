import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { request as tlsRequest } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { testClock } from '../../contract-tests/harness/clock.ts'
import { systemRuntime } from '../../domain/runtime.ts'
import { webhookHeaders } from '../../domain/webhookHeaders.ts'
import { receiverFiles } from './certificate.ts'
import { startInbox } from './server.ts'

export interface Sent {
  /** Null: the connection ended without an answer. */
  status: number | null
  headers: IncomingMessage['headers']
}

export interface SendOptions {
  secret?: string
  previousSecret?: string
  kind?: string
  deliveryId?: string
  /** Beside those of a delivery; null leaves one out. */
  headers?: Record<string, string | null>
}

/** Inboxes for a test file, with a way to deliver to each over TLS. They end with the file. */
export async function inboxBench() {
  const folder = mkdtempSync(join(tmpdir(), 'bayar-inbox-'))
  const files = await receiverFiles(folder, '', new Date())
  const read = (file: string): string => readFileSync(file, 'utf8')
  const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true })]
  afterAll(async () => {
    for (const end of ends.toReversed()) await end()
  })

  /** Without `port` any free one. */
  const start = async (port = 0) => {
    const clock = testClock()
    const waits: { milliseconds: number, end: () => void }[] = []
    const credentialsFile = join(folder, `credentials-${randomBytes(4).toString('hex')}.json`)
    const secret = `whsec_${randomBytes(24).toString('base64url')}`
    const inbox = await startInbox({
      port, host: '127.0.0.1', secret, certificate: read(files.certificate), key: read(files.key), credentialsFile,
      runtime: { ...systemRuntime, now: clock.now, sleep: (milliseconds) => new Promise((resolve) => waits.push({ milliseconds, end: resolve })) },
    })
    ends.push(() => inbox.close())
    const page = `http://127.0.0.1:${inbox.port}`
    const deliver = (content: object | string | Buffer, { headers = {}, ...options }: SendOptions = {}): Promise<Sent> => {
      const body = Buffer.isBuffer(content) ? content : Buffer.from(typeof content === 'string' ? content : JSON.stringify(content))
      const signed = webhookHeaders({ secret, kind: 'payment.completed', deliveryId: crypto.randomUUID(), at: clock.now(), ...options, body: body.toString() })
      const all = Object.entries({ ...signed, ...headers }).filter((pair): pair is [string, string] => pair[1] !== null)
      return sendTls(inbox.port, read(files.trusted), Object.fromEntries(all), body)
    }
    return {
      inbox, clock, waits, secret, page, deliver, credentialsFile, port: inbox.port,
      get: (path = '/', headers: Record<string, string> = {}) => fetch(page + path, { headers }),
      text: async (path = '/') => (await fetch(page + path)).text(),
      post: (path: string, form: Record<string, string> = {}, headers: Record<string, string> = {}) =>
        fetch(page + path, { method: 'POST', body: new URLSearchParams(form), headers, redirect: 'manual' }),
    }
  }

  /** Stands in for payments, and writes the run's credentials for an inbox. */
  const startAnswering = async (credentialsFile: string, answer: (request: IncomingMessage, response: ServerResponse) => void) => {
    const server = createServer(answer)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    ends.push(() => server.closeAllConnections(), () => server.close())
    const token = randomBytes(12).toString('hex')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    writeFileSync(credentialsFile, JSON.stringify({ payments_url: url, owner: { access_token: token } }))
    return { url, token, close: () => new Promise((resolve) => server.close(resolve)) }
  }
  return { start, startAnswering, files, folder }
}

function sendTls(port: number, ca: string, headers: Record<string, string>, body: Buffer): Promise<Sent> {
  return new Promise((resolve) => {
    const request = tlsRequest({ host: '127.0.0.1', servername: 'localhost', port, ca, method: 'POST', headers, agent: false }, (response) => {
      response.resume().once('close', () => resolve({ status: response.statusCode ?? null, headers: response.headers }))
    })
    request.on('error', () => resolve({ status: null, headers: {} }))
    request.end(body)
  })
}
