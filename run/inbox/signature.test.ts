import { createHmac, randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { webhookVectors } from '../webhookVectors.ts'
import { checkSignature } from './signature.ts'

const secret = `whsec_${randomBytes(24).toString('base64url')}`
const body = Buffer.from('{"event":"payment.completed","note":"déjà"}')
const now = new Date('2026-01-02T03:04:05.600Z')
const seconds = Math.floor(now.getTime() / 1000)
const signed = (t: number | string, over: Buffer | string = body, by = secret) => createHmac('sha256', by).update(`${t}.`).update(over).digest('hex')
const check = (current: string | undefined, over = body, previous?: string) => checkSignature({ current, previous, body: over }, [secret], now)
const failing = (header: string | undefined, over = body) => {
  const { genuine, current: { steps } } = check(header, over)
  expect(genuine).toBe(steps.every(({ passed }) => passed !== false))
  return steps.filter(({ passed }) => passed === false).map(({ name }) => name)
}

describe('the check of a signature', () => {
  test('passes at every step for the raw bytes under the secret, up to 300 s either way', () => {
    for (const t of [seconds, seconds - 300, seconds + 300]) expect(failing(`t=${t},v1=${signed(t)}`)).toEqual([])
  })

  test('shows what it found: header, t, age, v1, what it computed, whether they are the same', () => {
    const [t, v1] = [seconds - 7, signed(seconds - 7)]
    expect(check(`t=${t},v1=${v1}`).current.steps.map(({ name, found }) => [name, found])).toEqual([
      ['X-Service-Signature', `t=${t},v1=${v1}`], ['t', String(t)], ['age', '7 s, at most 300 s either way'], ['v1', v1], ['computed', v1],
      ['v1 is what was computed', 'yes'],
    ])
  })

  test.each([
    ['301 s old', `t=${seconds - 301},v1=${signed(seconds - 301)}`, ['age'], '301 s back'],
    ['301 s ahead', `t=${seconds + 301},v1=${signed(seconds + 301)}`, ['age'], '301 s ahead'],
    ['another secret', `t=${seconds},v1=${signed(seconds, body, 'other')}`, ['v1 is what was computed'], 'another secret'],
    ['another time signed', `t=${seconds},v1=${signed(seconds - 1)}`, ['v1 is what was computed'], 'The key or the bytes differ'],
    ['upper-case hex', `t=${seconds},v1=${signed(seconds).toUpperCase()}`, ['v1', 'v1 is what was computed'], 'lower case'],
    ['a digest cut short', `t=${seconds},v1=${signed(seconds).slice(1)}`, ['v1', 'v1 is what was computed'], '63 characters'],
    ['letters beyond ASCII', `t=${seconds},v1=${'é'.repeat(64)}`, ['v1', 'v1 is what was computed'], 'not 64 hex digits'],
    ['no v1', `t=${seconds}`, ['v1', 'v1 is what was computed'], 'v1 is missing'],
    ['no t', `v1=${signed(seconds)}`, ['t', 'age', 'v1 is what was computed'], 't is missing'],
    ['a t that is no number', `t=now,v1=${signed('now')}`, ['t', 'age', 'v1 is what was computed'], 'no whole number'],
    ['a blank after the comma', `t=${seconds}, v1=${signed(seconds)}`, ['X-Service-Signature', 'v1', 'v1 is what was computed'], 'a blank'],
    ['no header', undefined, ['X-Service-Signature', 't', 'age', 'v1', 'v1 is what was computed'], 'did not come'],
  ])('refuses %s, and says why', (_title, header, steps, why) => {
    expect(failing(header)).toEqual(steps)
    expect(check(header).remark).toContain(why)
  })

  test('refuses JSON that was written anew', () => {
    const again = Buffer.from(JSON.stringify(JSON.parse(body.toString()), null, 1))
    expect(failing(`t=${seconds},v1=${signed(seconds)}`, again)).toEqual(['v1 is what was computed'])
    expect(check(`t=${seconds},v1=${signed(seconds)}`, again).remark).toContain('parsed and written anew')
  })

  test.each([
    ['the key without whsec_', signed(seconds, body, secret.slice('whsec_'.length)), 'without whsec_'],
    ['the body alone', createHmac('sha256', secret).update(body).digest('hex'), 'The body alone'],
  ])('recognises a common mistake: %s', (_title, v1, why) => expect(check(`t=${seconds},v1=${v1}`).remark).toContain(why))

  test('takes what the previous secret signed, and says so', () => {
    const { genuine, current, previous, remark } = check(`t=${seconds},v1=${signed(seconds, body, 'new')}`, body, `t=${seconds},v1=${signed(seconds)}`)
    expect([genuine, current.verdict, previous?.verdict]).toEqual([true, 'mismatch', 'ok'])
    expect(remark).toContain('rotated')
  })

  test.each(webhookVectors.map((vector) => [vector.name, vector] as const))('judges as every published implementation does: %s', (_name, vector) => {
    const request = { current: vector.signature ?? undefined, previous: vector.previous ?? undefined, body: Buffer.from(vector.body) }
    expect(checkSignature(request, vector.secrets, new Date(vector.now * 1000)).verdict).toBe(vector.verdict)
  })
})
