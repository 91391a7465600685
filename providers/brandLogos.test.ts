import { afterAll, describe, expect, test } from 'vitest'
import { openReceiver } from '../contract-tests/harness/tlsReceiver.ts'
import { brandLogos } from './brandLogos.ts'
import type { BrandLogosOptions } from './brandLogos.ts'
import { imageTypeOf } from './imageType.ts'

/** The head of a PNG of that size, which is all that is judged. */
const png = (width: number, height: number, length = 64): Buffer => {
  const body = Buffer.alloc(length)
  body.write('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1')
  body.writeUInt32BE(width, 16)
  body.writeUInt32BE(height, 20)
  return body
}
const answers: Record<string, { status?: number, headers?: Record<string, string>, body?: Buffer | string }> = {
  '/logo.png': { body: png(96, 96) }, '/exact.png': { body: png(96, 96, 12_288) }, '/large.png': { body: png(96, 96, 12_289) }, '/huge.png': { body: png(30_000, 30_000) },
  '/page': { body: '<script>alert(1)</script>', headers: { 'content-type': 'image/png' } }, '/vector': { body: '<svg xmlns="http://www.w3.org/2000/svg"/>', headers: { 'content-type': 'image/svg+xml' } },
  '/moved': { status: 302, headers: { location: '/logo.png' } }, '/error': { status: 500, body: png(96, 96) }, '/empty': {},
}
const host = await openReceiver(({ path }, response) => {
  const { body = '', headers = {}, status = 200 } = answers[path] ?? { status: 404 }
  if (path !== '/silent') response.writeHead(status, headers).end(body)
})
afterAll(() => host.close())
const base = new URL(host.url).origin
const times = (path: string) => host.received.filter((request) => request.path === path).length

const logosWith = (options: Partial<BrandLogosOptions> = {}) => {
  let now = Date.parse('2026-11-01T00:00:00Z')
  const logos = brandLogos({
    allowPrivate: true, ca: host.certificate, ...options, runtime: { now: () => new Date(now), sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)) },
  })
  afterAll(() => logos.close())
  return { logos, later: (milliseconds: number) => { now += milliseconds } }
}

test('a logo is fetched once for all who ask, kept an hour, and asked for again after it', async () => {
  const { later, logos } = logosWith()
  const url = `${base}/logo.png`
  const found = await Promise.all(Array.from({ length: 5 }, () => logos.find(url)))
  for (const logo of found) expect(logo).toEqual({ type: 'image/png', body: png(96, 96) })
  later(3_599_999)
  await logos.find(url)
  expect(times('/logo.png')).toBe(1)
  later(1)
  await logos.find(url)
  expect(times('/logo.png')).toBe(2)
  expect(host.received[0]?.headers.cookie).toBeUndefined()
})

test.each([['/exact.png', true], ['/large.png', false], ['/huge.png', false], ['/page', false], ['/vector', false], ['/moved', false], ['/error', false], ['/empty', false], ['/nowhere', false]])('%s is a logo: %j', async (path, isLogo) => {
  expect(await logosWith().logos.find(base + path) !== null).toBe(isLogo)
})

test('what failed is asked for again after a minute', async () => {
  const { later, logos } = logosWith()
  const before = times('/error')
  await logos.find(`${base}/error`)
  await logos.find(`${base}/error`)
  expect(times('/error') - before).toBe(1)
  later(60_000)
  await logos.find(`${base}/error`)
  expect(times('/error') - before).toBe(2)
})

test('a host that does not answer holds up nobody', async () => {
  const { logos } = logosWith({})
  expect(await logos.find(`${base}/silent`)).toBeNull()
})

test.each([
  'http://logos.example/logo.png', 'https://127.0.0.1/logo.png', 'https://[::1]/logo.png', 'https://169.254.169.254/latest', 'https://user:word@logos.example/', 'file:///etc/passwd', 'nonsense',
])('%s is not asked', async (url) => {
  const { logos } = logosWith({ allowPrivate: false, resolve: () => expect.unreachable() })
  expect(await logos.find(url)).toBeNull()
})

test('a name that leads into a private network is not asked', async () => {
  const before = host.received.length
  const { logos } = logosWith({ allowPrivate: false, resolve: () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]) })
  expect(await logos.find(`https://localhost:${new URL(base).port}/logo.png`)).toBeNull()
  expect(host.received).toHaveLength(before)
})

describe('a picture is what its bytes say', () => {
  const jpeg = Buffer.from('ffd8ffe000104a46494600010100000100010000ffc0001108006000600301220002110103110100', 'hex')
  const riff = (kind: string, rest: number[]) => Buffer.concat([Buffer.from('RIFF\0\0\0\0WEBP', 'latin1'), Buffer.from(kind), Buffer.from(rest), Buffer.alloc(20)])

  test.each([
    ['PNG', png(2048, 1), 'image/png'], ['JPEG', jpeg, 'image/jpeg'],
    ['WebP, lossy', riff('VP8 ', [0, 0, 0, 0, 0, 0, 0, 0x9d, 0x01, 0x2a, 96, 0, 96, 0]), 'image/webp'],
    ['WebP, lossless', riff('VP8L', [0, 0, 0, 0, 0x2f, 95, 0, 0, 0]), 'image/webp'],
    ['WebP, extended', riff('VP8X', [10, 0, 0, 0, 0, 0, 0, 0, 95, 0, 0, 95, 0, 0]), 'image/webp'],
    ['a PNG too wide', png(2049, 1), null], ['a PNG of nothing', png(0, 0), null], ['a PNG cut short', png(1, 1).subarray(0, 20), null],
    ['a WebP too wide', riff('VP8X', [10, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 95, 0, 0]), null], ['GIF', Buffer.from('GIF89a'.padEnd(64)), null], ['nothing', Buffer.alloc(0), null],
  ])('%s', (_, body, type) => {
    expect(imageTypeOf(body)).toBe(type)
  })

  test('cut anywhere, it is judged without failing', () => {
    for (const whole of [jpeg, png(1, 1), riff('VP8L', [0, 0, 0, 0, 0x2f, 95, 0, 0, 0])]) {
      for (let length = 0; length <= whole.length; length += 1) expect(() => imageTypeOf(whole.subarray(0, length))).not.toThrow()
    }
  })
})
