import { randomBytes, scryptSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { passwords } from './passwords.ts'

const random = { randomBytes: (size: number) => randomBytes(size) }
const password = randomBytes(12).toString('base64url')

describe('a password', () => {
  test('has its own hash, with the parameters in it, and no other', async () => {
    const { hash, verify } = passwords(random)
    const [first, second] = [await hash(password), await hash(password)]
    expect(first).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
    expect(second).not.toBe(first)
    expect(await verify(password, first)).toBe(true)
    expect(await verify(`${password} `, first)).toBe(false)
  })

  test('is judged by the parameters that its hash was made with', async () => {
    const salt = randomBytes(16)
    const text = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '')
    const old = `$scrypt$ln=4,r=1,p=1$${text(salt)}$${text(scryptSync(password, salt, 32, { N: 16, r: 1, p: 1 }))}`
    expect(await passwords(random).verify(password, old)).toBe(true)
  })

  test('of nobody is never right', async () => {
    expect(await passwords(random).verify(password, null)).toBe(false)
  })

  test('with a hash of another form fails loudly', async () => {
    await expect(passwords(random).verify(password, 'x')).rejects.toThrow(RangeError)
  })
})

describe('hashing', () => {
  test('is done a few at a time, in the order asked for', async () => {
    const { hash } = passwords(random, { atOnce: 1, waiting: 4 })
    const ended: number[] = []
    await Promise.all([0, 1, 2].map(async (at) => {
      await hash(password)
      ended.push(at)
    }))
    expect(ended).toEqual([0, 1, 2])
  })

  test('refuses what would wait too long, with 503, and takes more afterwards', async () => {
    const { hash } = passwords(random, { atOnce: 1, waiting: 1 })
    const results = await Promise.allSettled([hash(password), hash(password), hash(password)])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    expect(results[2]).toMatchObject({ reason: { code: 'unavailable', details: { headers: { 'Retry-After': '1' } } } })
    await hash(password)
  })

  test('leaves the event loop free', async () => {
    const { hash } = passwords(random)
    let turns = 0
    const ticking = setInterval(() => {
      turns += 1
    }, 1)
    await hash(password)
    clearInterval(ticking)
    expect(turns).toBeGreaterThan(5)
  })
})
