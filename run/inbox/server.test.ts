import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { testClock } from '../../contract-tests/harness/clock.ts'
import { webhookHeaders } from '../../domain/webhookHeaders.ts'
import { webhookSender } from '../../providers/webhookSender.ts'
import { receiverFiles } from './certificate.ts'
import { mostKept } from './deliveries.ts'
import { startInbox } from './server.ts'
import type { RunningInbox } from './server.ts'

const folder = mkdtempSync(join(tmpdir(), 'bayar-inbox-'))
const clock = testClock()
const secret = `whsec_${randomBytes(24).toString('base64url')}`
const files = await receiverFiles(folder, '', new Date())
const read = (file: string) => readFileSync(file, 'utf8')
const inboxes: RunningInbox[] = []
const sender = webhookSender({ allowPrivate: true, ca: read(files.trusted), timeoutMs: 5000 })
afterAll(async () => {
  await Promise.all([sender.close(), ...inboxes.map((inbox) => inbox.close())])
  rmSync(folder, { recursive: true })
})

async function start() {
  const inbox = await startInbox({ port: 0, host: '127.0.0.1', secret, now: clock.now, certificate: read(files.certificate), key: read(files.key) })
  inboxes.push(inbox)
  const page = `http://127.0.0.1:${inbox.port}`
  const deliver = (content: object | string, changes: { secret?: string, kind?: string, deliveryId?: string } = {}) => {
    const body = typeof content === 'string' ? content : JSON.stringify(content)
    const kind = changes.kind ?? 'payment.completed'
    return sender.send({
      url: `https://localhost:${inbox.port}/`, body,
      headers: webhookHeaders({ secret: changes.secret ?? secret, body, kind, deliveryId: changes.deliveryId ?? crypto.randomUUID(), at: clock.now() }),
    })
  }
  return { page, deliver, port: inbox.port, text: async (path = '/') => (await fetch(page + path)).text() }
}

describe('the receiver', () => {
  test('takes over TLS, under its own certificate, what is rightly signed, and shows each step of the check', async () => {
    const { deliver, text } = await start()
    const [event, deliveryId] = [crypto.randomUUID(), crypto.randomUUID()]
    expect(await deliver({ id: event, event: 'payment.completed', data: { intent: { amount_idr: 25_000 } } }, { deliveryId }))
      .toMatchObject({ succeeded: true, status: 204 })
    const page = await text()
    for (const shown of ['payment.completed', deliveryId, event, 'Signature right', clock.now().toISOString(), '&quot;amount_idr&quot;: 25000', 'X-Service-Delivery-Id']) {
      expect(page).toContain(shown)
    }
    const [, t = '', v1 = ''] = /t=(\d+),v1=([0-9a-f]{64})/.exec(page) ?? []
    expect(page).toMatch(new RegExp(`<dt>t</dt><dd class="passed"><code>${t}</code>`))
    expect(page).toMatch(new RegExp(`<dt>computed</dt><dd class="looked"><code>${v1}</code>`))
  })

  test('refuses what is wrongly signed, and lists it as such', async () => {
    const { deliver, text } = await start()
    expect(await deliver({ id: 'x', event: 'payment.completed' }, { secret: `${secret}x` })).toMatchObject({ status: 401 })
    expect(await text()).toContain('Signature wrong: refused with 401')
  })

  test('refuses another method and a body that is too long', async () => {
    const { deliver, page, text } = await start()
    expect(await deliver('x'.repeat(300_000))).toMatchObject({ succeeded: false })
    expect((await fetch(page, { method: 'POST' })).status).toBe(405)
    expect(await text()).toContain('Nothing has come yet')
  })

  test('survives a connection that says nothing and one that says nonsense', async () => {
    const { deliver, port, page } = await start()
    for (const bytes of [[], [0x16, 0x03], [0x00], [0x16, ...randomBytes(40)]]) {
      await new Promise((resolve) => {
        const socket = connect(port, '127.0.0.1', () => socket.end(Buffer.from(bytes)))
        socket.once('close', resolve).on('error', () => undefined).resume()
      })
    }
    expect([(await deliver({ id: 'x', event: 'payment.completed' })).status, (await fetch(page)).status]).toEqual([204, 200])
  })
})

describe('the page', () => {
  test('lists the newest first, and counts an event that came twice once', async () => {
    const { deliver, text } = await start()
    await deliver({ id: 'one', event: 'payment_intent.created' }, { kind: 'payment_intent.created' })
    await deliver({ id: 'two', event: 'payment.completed' })
    await deliver({ id: 'two', event: 'payment.completed' })
    const page = await text()
    expect(page).toContain('<strong>3 deliveries</strong> of <strong>2 events</strong>')
    expect([...page.matchAll(/id="delivery-(\d)"/g)].map(([, number]) => number)).toEqual(['3', '2', '1'])
    expect(page.match(/event seen before/g)).toHaveLength(1)
  })

  test('keeps the last 200', async () => {
    const { deliver, text } = await start()
    for (let at = 0; at < mostKept + 5; at += 1) await deliver({ id: `event ${at}`, event: 'payment.completed' })
    const page = await text()
    expect(page.match(/<article/g)).toHaveLength(200)
    expect(page).toContain('the last 200 of 205')
    expect(page).not.toContain('event 4<')
  })

  test('takes everything that was sent for text', async () => {
    const { deliver, text } = await start()
    const hostile = '</pre><script>alert(1)</script><img src=x onerror=alert(2)>'
    await deliver({ id: hostile, event: hostile, note: hostile }, { kind: hostile, deliveryId: hostile })
    await deliver(hostile)
    await deliver('null')
    const page = await text()
    expect(page).not.toMatch(/<script|<img/)
    expect(page).toContain('&lt;script&gt;')
    expect(page).toContain('the body has no id')
  })

  test('loads itself again until it is held, without script, style or anything from elsewhere', async () => {
    const { page, text } = await start()
    expect(await text()).toContain('http-equiv="refresh"')
    const answer = await fetch(`${page}/?hold`)
    const held = await answer.text()
    expect(held).not.toContain('http-equiv="refresh"')
    expect(held).not.toMatch(/<script|<style|style=| on[a-z]+=/)
    expect(answer.headers.get('content-security-policy'))
      .toBe('default-src \'none\'; style-src \'self\'; base-uri \'none\'; form-action \'none\'; frame-ancestors \'none\'')
    const style = /href="(\/inbox-[0-9a-f]{12}\.css)"/.exec(held)?.[1] ?? ''
    expect((await fetch(page + style)).headers.get('content-type')).toBe('text/css; charset=utf-8')
    expect((await fetch(`${page}/other`)).status).toBe(404)
  })
})

describe('the certificate', () => {
  test('is that of the run before, until it is about to end or cannot be read', async () => {
    const first = read(files.certificate)
    await receiverFiles(folder, '', new Date())
    expect(read(files.certificate)).toBe(first)
    await receiverFiles(folder, '', new Date(Date.now() + 3645 * 86_400_000))
    expect(read(files.certificate)).not.toBe(first)
    writeFileSync(files.key, 'nothing')
    await receiverFiles(folder, '', new Date())
    expect(read(files.key)).toContain('PRIVATE KEY')
  })

  test('is trusted beside what is trusted anyway', async () => {
    const own = join(folder, 'own.pem')
    writeFileSync(own, 'of somebody else')
    await receiverFiles(folder, own, new Date())
    expect(read(files.trusted)).toBe(`of somebody else\n${read(files.certificate)}`)
  })
})
