import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { request as plainRequest } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { webhookHeaders } from '../../domain/webhookHeaders.ts'
import { webhookSender } from '../../providers/webhookSender.ts'
import { receiverFiles } from './certificate.ts'
import { mostKept } from './deliveries.ts'
import { inboxBench } from './inboxBench.ts'
import { mostBodyBytes } from './receive.ts'

const { start, startAnswering, files, folder } = await inboxBench()
const read = (file: string) => readFileSync(file, 'utf8')
const event = (changes: object = {}) => ({ id: crypto.randomUUID(), event: 'payment.completed', data: { intent: { id: crypto.randomUUID(), amount_idr: 25_000 } }, ...changes })
const numbers = (page: string) => [...page.matchAll(/<li id="delivery-(\d+)"/g)].map(([, number]) => Number(number))

describe('the receiver', () => {
  test('takes from the real sender over TLS what is rightly signed, and shows each step of the check', async () => {
    const { clock, port, secret, text } = await start()
    const [id, deliveryId] = [crypto.randomUUID(), crypto.randomUUID()]
    const body = JSON.stringify(event({ id }))
    const sender = webhookSender({ allowPrivate: true, ca: read(files.trusted), timeoutMs: 5000 })
    const headers = webhookHeaders({ secret, body, kind: 'payment.completed', deliveryId, at: clock.now() })
    expect(await sender.send({ url: `https://localhost:${port}/`, body, headers })).toMatchObject({ succeeded: true, status: 204 })
    await sender.close()
    const page = await text('/?delivery=1')
    for (const shown of ['payment.completed', deliveryId, id, 'Signature right', clock.now().toISOString(), 'amount_idr', 'Rp 25.000', 'X-Service-Delivery-Id']) expect(page).toContain(shown)
    const [, t = '', v1 = ''] = /t=(\d+),v1=([0-9a-f]{64})/.exec(headers['X-Service-Signature'] ?? '') ?? []
    expect(page).toContain(`<code>${t}</code> is 2026-11-02 03:04:05 UTC: 0 s, at most 300 s either way`)
    expect(page.split(`<code>${v1}</code>`)).toHaveLength(3)
    expect(page).toContain(`<code>${secret.slice(0, 11)}…</code>`)
    expect(page).not.toContain(secret.slice(0, 12))
  })

  test('refuses what is wrongly signed, lists it as such and says why', async () => {
    const { deliver, secret, text } = await start()
    expect((await deliver(event(), { secret: secret.replace('whsec_', '') })).status).toBe(401)
    const page = await text('/?delivery=1')
    expect(page).toContain('Signature wrong')
    expect(page).toContain('The key was taken without whsec_')
  })

  test('shows both signatures while a rotation is on', async () => {
    const { deliver, secret, text } = await start()
    expect((await deliver(event(), { secret: `${secret}new`, previousSecret: secret })).status).toBe(204)
    const page = await text('/?delivery=1')
    for (const shown of ['aria-label="X-Service-Signature"', 'aria-label="X-Service-Signature-Previous"', 'the secret was rotated']) expect(page).toContain(shown)
  })

  test('keeps the bytes just as they came, and hands out what is signed', async () => {
    const { clock, deliver, get } = await start()
    const body = '{ "n": 1e400, "n": 12345678901234567890,\r\n "s":"\\u0041é" }'
    await deliver(body)
    const raw = await get('/deliveries/1/body')
    expect(Buffer.from(await raw.arrayBuffer()).toString()).toBe(body)
    expect([raw.headers.get('content-type'), raw.headers.get('content-disposition')]).toEqual(['application/octet-stream', 'attachment; filename="delivery-1.bin"'])
    expect(await (await get('/deliveries/1/signed-current')).text()).toBe(`${Math.floor(clock.now().getTime() / 1000)}.${body}`)
    expect(await (await get('/deliveries/1/pretty')).text()).toBe('{\n  "n": 1e400,\n  "n": 12345678901234567890,\n  "s": "\\u0041é"\n}')
    for (const path of ['/deliveries/2/body', '/deliveries/1/signed-previous']) expect((await get(path)).status).toBe(404)
  })

  test('refuses another method; a body that is too long is answered 413 and listed with its beginning', async () => {
    const { deliver, get, text } = await start()
    await deliver('x'.repeat(mostBodyBytes + 1))
    const page = await text('/?delivery=1')
    for (const shown of ['413', 'Signature not checked', `Only the first ${mostBodyBytes} bytes were kept`]) expect(page).toContain(shown)
    expect((await (await get('/deliveries/1/body')).arrayBuffer()).byteLength).toBe(mostBodyBytes)
    expect(page.length).toBeLessThan(100_000)
  })

  test('survives a connection that says nothing and one that says nonsense', async () => {
    const { deliver, port, get } = await start()
    for (const bytes of [[], [0x16, 0x03], [0x00], [0x16, ...randomBytes(40)]]) {
      await new Promise((resolve) => {
        const socket = connect(port, '127.0.0.1', () => socket.end(Buffer.from(bytes)))
        socket.once('close', resolve).on('error', () => undefined).resume()
      })
    }
    expect([(await deliver(event())).status, (await get()).status]).toEqual([204, 200])
  })
})

describe('the page', () => {
  test('lists the newest first, counts an event that came twice once, and groups its attempts', async () => {
    const { deliver, text } = await start()
    const again = event()
    await deliver(event({ event: 'payment_intent.created' }), { kind: 'payment_intent.created' })
    await deliver(again, { deliveryId: '00000000-0000-4000-8000-000000000001' })
    await deliver({ ...again, more: 1 }, { deliveryId: '00000000-0000-4000-8000-000000000002' })
    const page = await text('/?delivery=3')
    expect(page).toContain('<strong>3 deliveries</strong> of <strong>2 events</strong>')
    expect(numbers(page)).toEqual([3, 2, 1])
    for (const shown of ['Attempts of this event (2 here)', 'attempt 2', '00000000-0000-4000-8000-000000000001', 'other bytes than the first']) expect(page).toContain(shown)
  })

  test('filters by kind, signature, answer, and text in ids and body, and counts what is shown', async () => {
    const { deliver, secret, text } = await start()
    const [first, deliveryId] = [event(), crypto.randomUUID()]
    await deliver(first, { deliveryId })
    await deliver(event({ event: 'payment.failed', note: 'Kopi Susu' }), { kind: 'payment.failed' })
    await deliver(event(), { secret: `${secret}x` })
    const shown = async (query: string) => numbers(await text(`/?${query}`))
    expect(await shown('kind=payment.failed')).toEqual([2])
    expect(await shown('signature=wrong')).toEqual([3])
    expect(await shown('signature=right')).toEqual([2, 1])
    expect(await shown('answer=401')).toEqual([3])
    expect(await shown('q=kopi+susu')).toEqual([2])
    for (const q of [first.id, first.data.intent.id, deliveryId.toUpperCase()]) expect(await shown(`q=${q}`)).toEqual([1])
    expect(await shown('kind=payment.completed&answer=204')).toEqual([1])
    expect(await text('/?q=nothing+like+it')).toContain('None of the 3 fits the filter')
    expect(await text('/?signature=right')).toContain('<strong>2 shown</strong> of <strong>3 deliveries</strong>')
  })

  test(`keeps the last ${mostKept}, says how many were dropped, and is emptied`, async () => {
    const { deliver, post, text } = await start()
    for (let at = 0; at < mostKept + 5; at += 1) await deliver({ id: `event ${at}`, event: 'payment.completed' })
    const page = await text()
    expect([numbers(page).length, numbers(page).at(-1)]).toEqual([mostKept, 6])
    expect(page).toContain('5 older ones were dropped: the last 500 are kept')
    expect((await post('/clear')).status).toBe(200)
    expect(await text()).toContain('Nothing has come yet')
  })

  test('drops by size too: the bodies that are kept have 32 MiB at most', async () => {
    const { deliver, text } = await start()
    const large = 'x'.repeat(mostBodyBytes)
    for (let at = 0; at < 140; at += 1) await deliver(large)
    expect(numbers(await text())).toHaveLength(128)
  })

  test('takes everything that was sent for text', async () => {
    const { deliver, get, text } = await start()
    const hostile = '</pre><script>alert(1)</script><img src=x onerror=alert(2)>"\'`'
    await deliver({ id: hostile, event: hostile, [hostile]: hostile, data: { intent: { id: hostile } } }, { kind: hostile, deliveryId: hostile, headers: { 'X-Odd': hostile } })
    await deliver(hostile)
    await deliver('null')
    await deliver(Buffer.from([0xff, 0xfe, 0x00, 0x3c, 0x73]))
    await deliver('{"a":"\u202eelpmaxe","b":"\u0000"}')
    await deliver(`${'['.repeat(50_000)}${']'.repeat(50_000)}`)
    await deliver('')
    const pages = await Promise.all([1, 2, 3, 4, 5, 6, 7].map((number) => text(`/?delivery=${number}&q=`)))
    for (const page of [...pages, await text(`/?q=${encodeURIComponent(hostile)}&kind=${encodeURIComponent(hostile)}`)]) {
      expect(page.replace(/<script src="\/inbox-[0-9a-f]{12}\.js" defer><\/script>/, '')).not.toMatch(/<script|<img|\u202e|style=| on[a-z]+=(?!alert)/)
    }
    for (const [at, shown] of [[0, '&lt;script&gt;'], [2, 'the body has no id'], [3, 'ff fe 00 3c 73'], [3, 'not UTF-8'], [4, '\\u{202e}elpmaxe'], [6, 'The body is empty.']] as const) {
      expect(pages[at]).toContain(shown)
    }
    expect((await get('/deliveries/6/pretty')).status).toBe(404)
  })

  test('a header cannot be smuggled into what the inbox answers', async () => {
    const { deliver, post } = await start()
    await deliver(event(), { kind: 'payment.completed' })
    const choice = await post('/answer', { answer: '429', retry_after: '5\r\nX-Odd: 1', kind: '' })
    expect([choice.status, await choice.text()]).toEqual([400, 'This cannot be answered: retry_after must be a whole number of seconds from 1 to 3600.\n'])
    expect((await deliver(event())).status).toBe(204)
  })

  test('has nothing inline and nothing from elsewhere', async () => {
    const { get } = await start()
    const answer = await get()
    const page = await answer.text()
    expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'self'; script-src 'self';/)
    for (const [, path = ''] of page.matchAll(/(?:href|src)="(\/inbox-[^"]+)"/g)) {
      const asset = await get(path)
      expect([asset.status, asset.headers.get('content-type')]).toEqual([200, path.endsWith('.js') ? 'text/javascript; charset=utf-8' : 'text/css; charset=utf-8'])
    }
    expect((await get('/snippets/node')).status).toBe(200)
    expect((await get('/other')).status).toBe(404)
  })

  test('tells open pages of every change', async () => {
    const { deliver, get, inbox } = await start()
    const stream = (await get('/live')).body?.pipeThrough(new TextDecoderStream()).getReader()
    await deliver(event())
    let seen = ''
    while (!seen.includes('event: changed')) seen += (await stream?.read())?.value ?? ''
    expect(seen).toMatch(/^retry: 1000\n\n/)
    await inbox.close()
    await stream?.read().catch(() => undefined)
  })
})

describe('the answer', () => {
  test.each([['200', 200, {}], ['204', 204, {}], ['302', 302, { location: '/moved' }], ['404', 404, {}], ['410', 410, {}], ['429', 429, { 'retry-after': '7' }], ['500', 500, {}]])(
    '%s is given until it is changed, and the page says so', async (answer, status, headers) => {
      const { deliver, post, text } = await start()
      await post('/answer', { answer, retry_after: '7' })
      for (let at = 0; at < 2; at += 1) expect(await deliver(event())).toMatchObject({ status, headers })
      expect(await text()).toContain('until this is changed')
      await post('/answer', { answer: 'receiver' })
      expect((await deliver(event())).status).toBe(204)
      expect(await text()).not.toContain('until this is changed')
    })

  test('is given to one kind, or to the next few', async () => {
    const { deliver, post } = await start()
    await post('/answer', { answer: '500', kind: 'payment.failed', count: '2' })
    await post('/answer', { answer: '404', count: '1' })
    const statuses = []
    for (const kind of ['payment.completed', 'payment.completed', 'payment.failed', 'payment.failed', 'payment.failed']) statuses.push((await deliver(event(), { kind })).status)
    expect(statuses).toEqual([404, 204, 500, 500, 204])
  })

  test.each([['slow-10', 10_000], ['slow-29', 29_000], ['slow-35', 35_000]])('%s comes so late', async (answer, milliseconds) => {
    const { clock, deliver, post, text, waits } = await start()
    await post('/answer', { answer, count: '1' })
    const sent = deliver(event())
    await expect.poll(() => waits).toEqual([expect.objectContaining({ milliseconds })])
    expect(await text('/?delivery=1')).toContain('answering')
    clock.advance(milliseconds)
    waits[0]?.end()
    expect((await sent).status).toBe(204)
    expect(await text('/?delivery=1')).toContain(`204 after ${milliseconds / 1000}.0 s, as chosen`)
  })

  test('drops the connection', async () => {
    const { deliver, post, text } = await start()
    await post('/answer', { answer: 'drop', count: '1' })
    expect((await deliver(event())).status).toBeNull()
    expect(await text('/?delivery=1')).toContain('connection dropped, as chosen')
    expect((await deliver(event())).status).toBe(204)
  })

  test('a sender that gives up while it waits is listed as such', async () => {
    const { clock, port, post, secret, text, waits } = await start()
    await post('/answer', { answer: 'slow-35' })
    const sender = webhookSender({ allowPrivate: true, ca: read(files.trusted), timeoutMs: 300 })
    const body = JSON.stringify(event())
    const headers = webhookHeaders({ secret, body, kind: 'payment.completed', deliveryId: crypto.randomUUID(), at: clock.now() })
    await sender.send({ url: `https://localhost:${port}/`, body, headers })
    await sender.close()
    await expect.poll(() => text('/?delivery=1')).toContain('sender gave up')
    expect(waits).toHaveLength(1)
  })

  test.each([[{ answer: '201' }, 'answer must be'], [{ answer: '500', count: '0' }, 'count must be'], [{ answer: '500', count: '1001' }, 'count must be'],
    [{ answer: 'constructor' }, 'answer must be'], [{ answer: '500', kind: 'x'.repeat(101) }, 'kind has more']])('refuses to answer %j', async (form, words) => {
    const { deliver, post } = await start()
    const refused = await post('/answer', form)
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining(words)])
    expect((await deliver(event())).status).toBe(204)
  })

  test('is chosen by POST of this page alone', async () => {
    const { deliver, get, page, port, post } = await start()
    const form = { answer: '500' }
    for (const headers of [{ 'Sec-Fetch-Site': 'cross-site' }, { 'Sec-Fetch-Site': 'same-site' }, { 'Sec-Fetch-Site': 'none' }, { Origin: 'https://evil.example' }, { Origin: 'null' }]) {
      for (const path of ['/answer', '/clear', '/deliveries/1/resend']) expect([headers, (await post(path, form, headers)).status]).toEqual([headers, 403])
    }
    await get('/answer?answer=500')
    expect((await deliver(event())).status).toBe(204)
    expect((await post('/answer', form, { Origin: page })).status).toBe(200)
    expect((await post('/answer', form, { Accept: 'text/html', 'Sec-Fetch-Site': 'same-origin' })).status).toBe(303)
    expect((await deliver(event())).status).toBe(500)
    const asHost = (host: string) => new Promise((resolve) => plainRequest({ port, host: '127.0.0.1', headers: { host } }, (response) => resolve(response.resume().statusCode)).end())
    expect(await Promise.all([asHost('evil.example'), asHost(`localhost:${port}`), asHost('[::1]:1'), asHost('127.0.0.1')])).toEqual([403, 200, 200, 200])
  })
})

describe('sending again', () => {
  const deliveryId = crypto.randomUUID()
  const startWith = async (status: number, body: object, headers: Record<string, string> = {}) => {
    const bench = await start()
    const asked: unknown[] = []
    const payments = await startAnswering(bench.credentialsFile, (request, response) => {
      asked.push([request.method, request.url, request.headers.authorization])
      response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body))
    })
    await bench.deliver(event(), { deliveryId })
    return { ...bench, asked, payments }
  }

  test('asks payments for a replay as the owner, and shows what it said', async () => {
    const { asked, payments, post, text } = await startWith(200, { status: 'pending' })
    const answer = await post('/deliveries/1/resend')
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('Payments sends it again now')])
    expect(asked).toEqual([['POST', `/v1/payments/settings/webhook-deliveries/${deliveryId}/replay`, `Bearer ${payments.token}`]])
    expect(await text('/?delivery=1')).toContain('Payments sends it again now')
    expect((await post('/deliveries/1/resend', {}, { Accept: 'text/html', 'Sec-Fetch-Site': 'same-origin' })).headers.get('location')).toBe('/?delivery=1')
  })

  test.each([
    [401, 'does not accept the owner\'s token', {}], [404, 'does not know this delivery', {}], [409, 'The subscription is inactive', {}],
    [429, 'wait 8 s', { 'Retry-After': '8' }], [503, 'Payments refused (503): The subscription is inactive', {}],
  ])('says in words what %i means', async (status, words, headers) => {
    const { post, text } = await startWith(status, { code: 'x', message: 'The subscription is inactive: make it active first.' }, headers)
    expect([(await post('/deliveries/1/resend')).status]).toEqual([409])
    expect((await text('/?delivery=1')).replaceAll('&#39;', '\'')).toContain(words)
  })

  test('says when payments is away, when nobody is logged in yet, and when there is nothing to ask for', async () => {
    const { credentialsFile, deliver, payments, post } = await startWith(200, {})
    await payments.close()
    expect(await (await post('/deliveries/1/resend')).text()).toContain(`cannot be reached at ${payments.url}`)
    for (const content of ['', '{"payments_url":"http://x","owner":{"access_token":null}}']) {
      writeFileSync(credentialsFile, content)
      expect(await (await post('/deliveries/1/resend')).text()).toContain('has not logged its owner in yet')
    }
    await deliver(event(), { deliveryId: '../../evil' })
    expect((await post('/deliveries/2/resend')).status).toBe(404)
    expect((await post('/deliveries/99/resend')).status).toBe(404)
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
