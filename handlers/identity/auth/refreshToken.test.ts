import { beforeAll, describe, expect, test } from 'vitest'
import { addRoleBinding } from '../../../db/identity/roleBindings.ts'
import { purgeSpentRefreshTokens } from '../../../db/identity/sessions.ts'
import { disableUser } from '../../../db/identity/users.ts'
import type { Account, IdentityBench } from '../identityBench.ts'
import { startIdentity } from '../identityBench.ts'

let bench: IdentityBench
beforeAll(async () => {
  bench = await startIdentity()
})

async function logIn({ email, password }: Account, body: object = {}): Promise<string> {
  const answer = await bench.call('logIn', { body: { email, password, ...body } })
  if (answer.status !== 200 || answer.body.refresh_token === null) throw new Error(`logIn answered ${answer.status}`)
  return answer.body.refresh_token
}

const refresh = (refresh_token: string, caller: Pick<IdentityBench, 'call'> = bench) => caller.call('refreshToken', { body: { refresh_token } })

async function next(refresh_token: string): Promise<{ access: string, refresh: string }> {
  const answer = await refresh(refresh_token)
  if (answer.status !== 200) throw new Error(`refreshToken answered ${answer.status}`)
  return { access: answer.body.access_token, refresh: answer.body.refresh_token }
}

const auditOf = (account: Account) => bench.rows`select a.actor, a.action from identity.audit_events a
  join identity.sessions s on a.target = 'session:' || s.id where s.user_id = ${account.id} order by a.id`

describe('a refresh token', () => {
  test('gives the next tokens, of the same session, environment and moment of log-in', async () => {
    const account = await bench.user()
    const first = await logIn(account, { environment: 'production' })
    const loggedInAt = Math.floor(bench.clock.now().getTime() / 1000)
    bench.clock.advance(540_000)
    const answer = await refresh(first)
    expect(answer).toMatchObject({
      status: 200, body: {
        token_type: 'Bearer', expires_in: 600, access_token: expect.stringMatching(/^ey/), refresh_token: expect.stringMatching(/^rt_[0-9A-Za-z]{43}$/),
      },
    })
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const { payload } = await bench.verified(answer.status === 200 ? answer.body.access_token : '')
    expect(payload).toMatchObject({
      sub: account.id, env: 'production', acr: 'pwd', tenant_id: bench.seeded.tenant_id, auth_time: loggedInAt, iat: loggedInAt + 540, exp: loggedInAt + 1140,
    })
    expect(await bench.rows`select from identity.sessions where user_id = ${account.id}`).toHaveLength(1)
  })

  test('of a log-in with a code goes on saying so', async () => {
    const account = await bench.user({ totp: true })
    const first = await bench.call('logIn', { body: { email: account.email, password: account.password } })
    const mfa_token = first.status === 200 ? first.body.mfa_token ?? '' : ''
    const second = await bench.call('completeLogIn', { body: { mfa_token, code: account.code() } })
    const { access } = await next(second.status === 200 ? second.body.refresh_token ?? '' : '')
    expect((await bench.verified(access)).payload.acr).toBe('mfa')
  })

  test('gives the roles that the user has now', async () => {
    const account = await bench.user()
    const first = await logIn(account)
    const before = await next(first)
    expect((await bench.verified(before.access)).payload.role_bindings).toEqual([])
    await bench.database.query((sql) => addRoleBinding(sql, {
      id: crypto.randomUUID(), tenantId: bench.seeded.tenant_id, userId: account.id, role: 'tenant_admin', scope: '*',
    }, bench.clock.now()))
    const after = await next(before.refresh)
    expect((await bench.verified(after.access)).payload.role_bindings).toEqual([{ role: 'tenant_admin', scope: '*' }])
  })

  test('works once: presented again it ends the session, for whoever has the next one too', async () => {
    const account = await bench.user()
    const first = await logIn(account)
    const { refresh: second } = await next(first)
    const { refresh: third } = await next(second)
    expect(await refresh(first, bench.twin)).toMatchObject({ status: 401, body: { error: 'unauthenticated' } })
    expect((await refresh(third)).status).toBe(401)
    expect(await auditOf(account)).toEqual([{ actor: 'anonymous', action: 'session.token_reused' }])
    expect((await refresh(await logIn(account))).status).toBe(200)
  })

  test('presented to two processes at once works in one of them, and the session is ended', async () => {
    for (let round = 0; round < 5; round += 1) {
      const first = await logIn(await bench.user())
      const answers = await Promise.all([refresh(first), refresh(first, bench.twin)])
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401])
      const won = answers.find(({ status }) => status === 200)
      expect(won?.status === 200 && (await refresh(won.body.refresh_token)).status).toBe(401)
    }
  })

  test('is good for twelve hours from the log-in, however often it was exchanged', async () => {
    let token = await logIn(await bench.user())
    bench.clock.advance(11 * 3_600_000)
    token = (await next(token)).refresh
    bench.clock.advance(3_600_000 - 1)
    token = (await next(token)).refresh
    bench.clock.advance(1)
    expect((await refresh(token)).status).toBe(401)
  })
})

describe('a refresh that is refused', () => {
  test('is answered alike whatever the reason', async () => {
    const [disabled, suspended, loggedOut] = await Promise.all([bench.user(), bench.user({ tenantId: await tenant() }), bench.user()])
    const tokens = {
      unknown: `rt_${'x'.repeat(43)}`, disabled: await logIn(disabled), suspended: await logIn(suspended), loggedOut: await logIn(loggedOut),
    }
    await bench.database.query((sql) => disableUser(sql, bench.seeded.tenant_id, disabled.id, bench.clock.now()))
    await bench.rows`update identity.tenants set status = 'suspended'
      where id = (select tenant_id from identity.users where id = ${suspended.id})`
    await bench.call('logOut', { body: { refresh_token: tokens.loggedOut } })
    for (const token of Object.values(tokens)) {
      const answer = await refresh(token)
      expect(answer).toMatchObject({ status: 401, body: { error: 'unauthenticated', message: 'The refresh token is wrong, used or expired.' } })
    }
    for (const account of [disabled, suspended]) expect(await auditOf(account)).toEqual([{ actor: 'anonymous', action: 'session.account_closed' }])
  })

  test('leaves no token in the log', async () => {
    const first = await logIn(await bench.user())
    const { access, refresh: second } = await next(first)
    await refresh(first)
    for (const secret of [first, second, access]) expect(bench.logged.join('')).not.toContain(secret)
  })

  test('clients of one address are limited', async () => {
    const slow = await startIdentity({ RATE_LIMIT_PER_ADDRESS: '1' })
    const body = { refresh_token: `rt_${'x'.repeat(43)}` }
    const statuses = []
    for (let at = 0; at < 2; at += 1) statuses.push((await slow.call('refreshToken', { body })).status)
    expect(statuses).toEqual([401, 429])
  })
})

test('tokens of sessions that have expired are cleared away, others are not', async () => {
  const [old, fresh] = [await bench.user(), await bench.user()]
  await next(await logIn(old))
  bench.clock.advance(14 * 3_600_000)
  await next(await logIn(fresh))
  await bench.database.query((sql) => purgeSpentRefreshTokens(sql, new Date(bench.clock.now().getTime() - 3_600_000), 100))
  const spentBy = ({ id }: Account) => bench.rows`select from identity.spent_refresh_tokens t
    join identity.sessions s on s.id = t.session_id where s.user_id = ${id}`
  expect([(await spentBy(old)).length, (await spentBy(fresh)).length]).toEqual([0, 1])
})

async function tenant(): Promise<string> {
  const id = crypto.randomUUID()
  await bench.rows`insert into identity.tenants (id, name, status, display_name, accent_hex, modules, created_at)
    values (${id}, 'Another', 'active', 'Another', '#000000', '{}', now())`
  return id
}
