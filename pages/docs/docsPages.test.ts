import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { startPayments } from '../../contract-tests/harness/payments.ts'
import { errors } from '../../generated/errors.ts'
import { magicAmounts } from '../../providers/simulator/magicAmounts.ts'
import { channelCodes } from '../../domain/channels.ts'
import { guideGroups } from './guides.ts'
import { renderGuide } from './markdown.ts'
import { references } from './references.ts'
import { takesGzip } from './representation.ts'

const bench = await startPayments()
const get = (path: string, headers: Record<string, string> = {}): Promise<Response> => fetch(bench.url + path, { headers, redirect: 'manual' })
const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const guides = guideGroups.flatMap((group) => group.guides)

async function pageOf(path: string): Promise<string> {
  const response = await get(path)
  expect([path, response.status]).toEqual([path, 200])
  return response.text()
}

describe('the documentation', () => {
  test('the front door leads to it', async () => {
    const response = await get('/')
    expect([response.status, response.headers.get('location')]).toEqual([303, '/docs'])
  })

  test('every link and every anchor leads somewhere, from every page that can be reached', async () => {
    const pages = new Map<string, string>()
    const wanted = new Map<string, string>([['/docs', 'the start']])
    for (const [path, from] of wanted) {
      const response = await get(path)
      expect([from, path, response.status]).toEqual([from, path, 200])
      const text = await response.text()
      pages.set(path, text)
      if (!response.headers.get('content-type')?.startsWith('text/html')) continue
      for (const [, href = ''] of text.matchAll(/(?:href|src)="([^"]+)"/g)) {
        const [target = ''] = href.split('#')
        if (target.startsWith('/') && !wanted.has(target)) wanted.set(target, path)
      }
    }
    expect([...guides.map((slug) => `/docs/${slug}`)].filter((path) => !pages.has(path))).toEqual([])
    for (const [path, text] of pages) {
      for (const [, target = '', id = ''] of text.matchAll(/<a [^>]*href="([^"#]*)#([^"]+)"/g)) {
        const page = pages.get(target === '' ? path : target)
        expect([path, target, id, page?.includes(`id="${id}"`)]).toEqual([path, target, id, true])
      }
    }
  })

  test('nothing comes from another host, and nothing is inline', async () => {
    for (const path of ['/docs', '/docs/reference', '/docs/reference/payments', ...guides.map((slug) => `/docs/${slug}`)]) {
      const text = await pageOf(path)
      expect(text.match(/<script(?! src="\/)|<style|\sstyle="|\son[a-z]+="|(?:src|<link[^>]* href)="https?:/g)).toBeNull()
    }
  })

  test('only the reference may make styles while it runs; no page may run what is inline', async () => {
    const policyOf = async (path: string): Promise<string> => (await get(path)).headers.get('content-security-policy') ?? ''
    expect(await policyOf('/docs/quickstart')).not.toContain('unsafe')
    const reference = await policyOf('/docs/reference/payments')
    expect(reference).toContain('script-src \'self\';')
    expect(reference).not.toContain('http')
  })

  test('what is known is not sent again, and is compressed for those who take it', async () => {
    const first = await get('/docs/errors', { 'Accept-Encoding': 'gzip' })
    expect(first.headers.get('content-encoding')).toBe('gzip')
    const again = await get('/docs/errors', { 'Accept-Encoding': 'gzip', 'If-None-Match': first.headers.get('etag') ?? '' })
    expect([again.status, await again.text()]).toEqual([304, ''])
    const plain = await get('/docs/errors', { 'Accept-Encoding': 'gzip;q=0' })
    expect([plain.headers.get('content-encoding'), await plain.text()]).toEqual([null, await first.text()])
  })

  test('an unknown page is 404 with the way back, another method 405, a trailing slash is taken off', async () => {
    const missing = await get('/docs/nothing-here')
    expect([missing.status, await missing.text()]).toEqual([404, expect.stringContaining('There is no such page')])
    const post = await fetch(`${bench.url}/docs`, { method: 'POST' })
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    const slash = await get('/docs/errors/')
    expect([slash.status, slash.headers.get('location')]).toEqual([308, '/docs/errors'])
  })

  test('each document is served byte for byte as it is generated, to tools on any host', async () => {
    for (const { service } of references) {
      for (const form of ['', '.3.1', '.dereferenced']) {
        const response = await get(`/docs/openapi/${service}${form}.json`)
        expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([200, '*'])
        expect(await response.text()).toBe(read(`generated/${service}${form}.json`))
      }
    }
  })
})

describe('what guides say of the code', () => {
  test('the errors page has every code that an operation gives, with its remedy, and no other', async () => {
    const text = await pageOf('/docs/errors')
    const shown = [...text.matchAll(/<h3 id="([a-z_0-9]+)">/g)].map(([, code]) => code)
    const given = new Set(read('generated/operations.txt').split('\n').slice(2).flatMap((line) => line.trim().split(/\s+/).at(-1)?.split(',') ?? []))
    expect([...shown].sort()).toEqual(Object.keys(errors).filter((code) => given.has(code)).sort())
    const catalogue = parse(read('spec/http/error-codes.yaml')) as Record<string, { remedy: string }>
    for (const code of shown) expect(text).toContain(catalogue[code ?? '']?.remedy.split(/[`&<>'"]/)[0]?.trim())
  })

  test('the sandbox page has every amount with a meaning, the channels page every channel', async () => {
    const sandbox = await pageOf('/docs/sandbox')
    for (const { amountIdr } of magicAmounts) expect(sandbox).toContain(`<code>${amountIdr}</code>`)
    const channels = await pageOf('/docs/channels')
    for (const code of channelCodes) expect(channels).toContain(`<code>${code}</code>`)
  })

  test('the requests of the quickstart work as they stand there', async () => {
    const credential = await bench.given.apiKey(await bench.given.merchant())
    const text = read('docs/quickstart.md')
    const commands = [...text.matchAll(/```sh\n(curl [^`]+)```/g)].map(([, command = '']) => command.replaceAll('\\\n', ' '))
    expect(commands).toHaveLength(2)
    let id = ''
    for (const command of commands) {
      const [, url = ''] = /(http:\/\/localhost:4000\S*)/.exec(command) ?? []
      const headers = Object.fromEntries([...command.matchAll(/-H "([^:]+): ([^"]+)"/g)].map(([, name = '', value = '']) => [name, value.replace('$BAYAR_KEY', credential)]))
      const [, body] = /-d '([^']+)'/.exec(command) ?? []
      const response = await fetch(url.replace('http://localhost:4000', bench.url).replace('$INTENT_ID', id), {
        method: 'POST', headers, ...(body !== undefined && { body }),
      })
      expect([command, response.status]).toEqual([command, id === '' ? 201 : 200])
      id = (await response.json() as { id: string }).id
    }
    const paid = await fetch(`${bench.url}/v1/payments/intents/${id}`, { headers: { Authorization: `Bearer ${credential}` } })
    expect(await paid.json()).toMatchObject({ status: 'paid' })
  })
})

describe('the Markdown of guides', () => {
  const render = (markdown: string): string => renderGuide(`# Title\n\n${markdown}`, 'one', ['one', 'two']).content.markup

  test('markup in it is shown, never run', () => {
    expect(render('<img src=x onerror=alert(1)> and <b>bold</b>')).not.toMatch(/<(img|b)\b/)
    expect(render('`<script>`')).toContain('&lt;script&gt;')
    expect(render('<!-- a note -->')).not.toContain('note')
  })

  test('a link to a guide that is not served refuses the guide; one to another guide leads to its page', () => {
    expect(() => render('[x](three.md)')).toThrow('three.md')
    expect(() => render('[x](javascript:alert)')).toThrow('javascript')
    expect(render('[x](two.md#y)')).toContain('href="/docs/two#y"')
  })

  test('headings of the same name have anchors of their own', () => {
    expect(render('## A\n\n## A')).toMatch(/id="a"[^]*id="a-1"/)
  })
})

test.each([
  ['gzip', true], ['br, gzip;q=0.5', true], ['*', true], ['', false], ['br', false], ['gzip;q=0', false], ['gzip;q=0.000, *', false], ['identity', false],
])('of Accept-Encoding %j it is said that gzip may be sent: %s', (header, expected) => {
  expect(takesGzip(header)).toBe(expected)
})
