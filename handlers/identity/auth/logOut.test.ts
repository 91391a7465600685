import { beforeAll, describe, expect, test } from 'vitest'
import type { Account, IdentityBench } from '../identityBench.ts'
import { startIdentity } from '../identityBench.ts'

let bench: IdentityBench
beforeAll(async () => {
  bench = await startIdentity()
})

async function logIn({ email, password }: Account): Promise<string> {
  const answer = await bench.call('logIn', { body: { email, password } })
  if (answer.status !== 200 || answer.body.refresh_token === null) throw new Error(`logIn answered ${answer.status}`)
  return answer.body.refresh_token
}

const logOut = async (refresh_token: string) => (await bench.call('logOut', { body: { refresh_token } })).status
const refresh = (refresh_token: string) => bench.call('refreshToken', { body: { refresh_token } })

describe('logging out', () => {
  test('ends the session of the token and no other of the user, and is in the audit log once', async () => {
    const account = await bench.user()
    const [one, other] = [await logIn(account), await logIn(account)]
    expect([await logOut(one), await logOut(one)]).toEqual([204, 204])
    expect([(await refresh(one)).status, (await refresh(other)).status]).toEqual([401, 200])
    expect(await bench.rows`select a.actor, a.action from identity.audit_events a
      join identity.sessions s on a.target = 'session:' || s.id where s.user_id = ${account.id}`)
      .toEqual([{ actor: `user:${account.id}`, action: 'session.logged_out' }])
  })

  test('by a token that was exchanged since ends the session too', async () => {
    const first = await logIn(await bench.user())
    const second = await refresh(first)
    expect(await logOut(first)).toBe(204)
    expect(second.status === 200 && (await refresh(second.body.refresh_token)).status).toBe(401)
  })

  test('while the token is being exchanged leaves no session behind', async () => {
    for (let round = 0; round < 5; round += 1) {
      const first = await logIn(await bench.user())
      const [refreshed, status] = await Promise.all([refresh(first), bench.twin.call('logOut', { body: { refresh_token: first } })])
      expect(status.status).toBe(204)
      if (refreshed.status === 200) expect((await refresh(refreshed.body.refresh_token)).status).toBe(401)
    }
  })

  test('by an unknown token is nothing to complain about', async () => {
    expect(await logOut(`rt_${'x'.repeat(43)}`)).toBe(204)
  })
})
