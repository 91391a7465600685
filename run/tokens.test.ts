import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { SignInFailed, secondsLeft } from './signIn.ts'
import type { IssuedToken } from './signIn.ts'
import { keepTokens } from './tokens.ts'
import type { TokenKeeper } from './tokens.ts'

const issuer = 'http://localhost:4602'

/** A token of no signature: it is only read for its issuer and end. */
const tokenOf = (iss: string, exp: number): string => `head.${Buffer.from(JSON.stringify({ iss, exp })).toString('base64url')}.none`

let keepers: TokenKeeper[]
beforeEach(() => {
  vi.useFakeTimers()
  keepers = []
})
afterEach(() => {
  for (const keeper of keepers) keeper.stop()
  vi.useRealTimers()
})

function keep(obtain: () => Promise<IssuedToken>, kept: string | null = null, accepted = true) {
  const tokens: (string | null)[] = []
  const said: string[] = []
  const keeper = keepTokens([{ name: 'owner', kept, obtain }], {
    issuer, isAccepted: () => Promise.resolve(accepted), changed: (_, token) => tokens.push(token), say: (line) => said.push(line),
  })
  keepers.push(keeper)
  return { keeper, tokens, said }
}

describe('tokens of a run', () => {
  test('each is got again two minutes before it ends', async () => {
    let issued = 0
    const { keeper, tokens } = keep(() => Promise.resolve({ accessToken: `token ${++issued}`, seconds: 600 }))
    await keeper.asked
    expect(tokens).toEqual([null, 'token 1'])
    await vi.advanceTimersByTimeAsync(479_000)
    expect(issued).toBe(1)
    await vi.advanceTimersByTimeAsync(2000)
    expect(tokens).toEqual([null, 'token 1', 'token 2'])
  })

  test('one of an earlier run is used on while it lasts, if it is accepted still', async () => {
    const kept = tokenOf(issuer, Date.now() / 1000 + 500)
    const fresh = () => Promise.resolve({ accessToken: 'fresh', seconds: 600 })
    const used = keep(fresh, kept)
    await used.keeper.asked
    expect(used.tokens).toEqual([kept])
    await vi.advanceTimersByTimeAsync(381_000)
    expect(used.tokens).toEqual([kept, 'fresh'])
    const refused = keep(fresh, kept, false)
    await refused.keeper.asked
    expect(refused.tokens).toEqual([null, 'fresh'])
  })

  test('a refusal is said, holds up nothing, and is tried again when identity says', async () => {
    let tries = 0
    const { keeper, tokens, said } = keep(() => ++tries === 1
      ? Promise.reject(new SignInFailed('owner cannot log in: 429', 90)) : Promise.resolve({ accessToken: 'late', seconds: 600 }))
    await keeper.asked
    expect([tokens, said]).toEqual([[null], ['owner cannot log in: 429; trying again in 90 s']])
    await vi.advanceTimersByTimeAsync(91_000)
    expect(tokens).toEqual([null, 'late'])
  })

  test('nothing is asked for any more once it is stopped', async () => {
    let issued = 0
    const { keeper } = keep(() => Promise.resolve({ accessToken: `token ${++issued}`, seconds: 600 }))
    await keeper.asked
    keeper.stop()
    await vi.advanceTimersByTimeAsync(3_600_000)
    expect(issued).toBe(1)
  })

  test('a token of another issuer, an ended one and no token at all are good for nothing', () => {
    const now = new Date()
    const soon = now.getTime() / 1000 + 100
    expect(secondsLeft(tokenOf(issuer, soon), issuer, now)).toBeCloseTo(100)
    expect(secondsLeft(tokenOf('http://localhost:4002', soon), issuer, now)).toBe(0)
    expect(secondsLeft(tokenOf(issuer, soon - 200), issuer, now)).toBe(0)
    expect(secondsLeft('none', issuer, now)).toBe(0)
  })
})
