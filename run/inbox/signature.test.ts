import { createHmac, randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { checkSignature } from './signature.ts'

const secret = `whsec_${randomBytes(24).toString('base64url')}`
const body = Buffer.from('{"event":"payment.completed","note":"déjà"}')
const now = new Date('2026-01-02T03:04:05.600Z')
const seconds = Math.floor(now.getTime() / 1000)
const signed = (t: number | string, over: Buffer = body, by = secret) => createHmac('sha256', by).update(`${t}.`).update(over).digest('hex')
const failing = (header: string | undefined, over = body) => {
  const { genuine, steps } = checkSignature(header, over, secret, now)
  expect(genuine).toBe(steps.every(({ passed }) => passed !== false))
  return steps.filter(({ passed }) => passed === false).map(({ name }) => name)
}

describe('the check of a signature', () => {
  test('passes at every step for the raw bytes under the secret, up to 300 s either way', () => {
    for (const t of [seconds, seconds - 300, seconds + 300]) expect(failing(`t=${t},v1=${signed(t)}`)).toEqual([])
  })

  test('shows what it found: header, t, age, v1, what it computed, whether they are the same', () => {
    const [t, v1] = [seconds - 7, signed(seconds - 7)]
    expect(checkSignature(`t=${t},v1=${v1}`, body, secret, now).steps.map(({ name, found }) => [name, found])).toEqual([
      ['X-Service-Signature', `t=${t},v1=${v1}`], ['t', String(t)], ['age', '7 s, at most 300 s either way'], ['v1', v1], ['computed', v1],
      ['v1 is what was computed', 'yes'],
    ])
  })

  test.each([
    ['301 s old', `t=${seconds - 301},v1=${signed(seconds - 301)}`, ['age']],
    ['301 s ahead', `t=${seconds + 301},v1=${signed(seconds + 301)}`, ['age']],
    ['another secret', `t=${seconds},v1=${signed(seconds, body, 'other')}`, ['v1 is what was computed']],
    ['another time signed', `t=${seconds},v1=${signed(seconds - 1)}`, ['v1 is what was computed']],
    ['upper-case hex', `t=${seconds},v1=${signed(seconds).toUpperCase()}`, ['v1', 'v1 is what was computed']],
    ['a digest cut short', `t=${seconds},v1=${signed(seconds).slice(1)}`, ['v1', 'v1 is what was computed']],
    ['letters beyond ASCII', `t=${seconds},v1=${'é'.repeat(64)}`, ['v1', 'v1 is what was computed']],
    ['no v1', `t=${seconds}`, ['v1', 'v1 is what was computed']],
    ['no t', `v1=${signed(seconds)}`, ['t', 'age', 'v1 is what was computed']],
    ['a t that is no number', `t=now,v1=${signed('now')}`, ['t', 'age', 'v1 is what was computed']],
    ['no header', undefined, ['X-Service-Signature', 't', 'age', 'v1', 'v1 is what was computed']],
  ])('refuses %s', (_title, header, steps) => expect(failing(header)).toEqual(steps))

  test('refuses JSON that was written anew', () => {
    const again = Buffer.from(JSON.stringify(JSON.parse(body.toString()), null, 1))
    expect(failing(`t=${seconds},v1=${signed(seconds)}`, again)).toEqual(['v1 is what was computed'])
  })
})
