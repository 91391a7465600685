import { beforeAll, describe, expect, test } from 'vitest'
import { disableUser } from '../../../db/identity/users.ts'
import type { Account, IdentityBench } from '../identityBench.ts'
import { startIdentity } from '../identityBench.ts'

let bench: IdentityBench
beforeAll(async () => {
  bench = await startIdentity()
})

async function firstStep({ email, password }: Account, body: object = {}): Promise<string> {
  const answer = await bench.call('logIn', { body: { email, password, ...body } })
  if (answer.status !== 200 || answer.body.mfa_token === null) throw new Error(`logIn answered ${answer.status}`)
  return answer.body.mfa_token
}

async function secondStep(mfa_token: string, code: string, caller: Pick<IdentityBench, 'call'> = bench) {
  const answer = await caller.call('completeLogIn', { body: { mfa_token, code } })
  const token = answer.status === 200 ? answer.body.access_token ?? '' : ''
  return { ...answer, token }
}

/** A code that is not the present one, nor a neighbour's. */
function wrongCode({ code }: Account): string {
  const right = new Set([-1, 0, 1].map((steps) => code(steps)))
  return ['000000', '111111', '222222', '333333'].find((candidate) => !right.has(candidate)) ?? ''
}

describe('the second step', () => {
  test('gives tokens that say mfa, by the code of another authenticator', async () => {
    const account = await bench.user({ totp: true })
    const answer = await secondStep(await firstStep(account, { environment: 'production' }), account.code())
    expect(answer).toMatchObject({
      status: 200, body: {
        status: 'authenticated', token_type: 'Bearer', expires_in: 600, refresh_token: expect.stringMatching(/^rt_/),
        mfa_token: null, mfa_expires_in: null,
      },
    })
    const { payload } = await bench.verified(answer.token)
    const now = Math.floor(bench.clock.now().getTime() / 1000)
    expect(payload).toMatchObject({ sub: account.id, env: 'production', acr: 'mfa', auth_time: now })
    expect(payload).not.toHaveProperty('platform')
    expect(await bench.rows`select authentication, environment from identity.sessions where user_id = ${account.id}`)
      .toEqual([{ authentication: 'mfa', environment: 'production' }])
  })

  test('gives the roles of the seeded users, and platform only to those of the platform\'s tenant', async () => {
    const claims = async (name: 'owner' | 'second_approver' | 'platform_admin' | 'reviewer') => {
      const account = bench.person(name)
      const { payload } = await bench.verified((await secondStep(await firstStep(account), account.code())).token)
      return { roles: payload.role_bindings, platform: payload.platform, tenant: payload.tenant_id }
    }
    const { tenant_id: demo, platform_tenant_id: platform } = bench.seeded
    expect(await claims('owner')).toEqual({
      tenant: demo, platform: undefined,
      roles: [{ role: 'merchant_owner', scope: `merchant:${bench.merchantId}` }, { role: 'tenant_admin', scope: '*' }],
    })
    expect(await claims('second_approver'))
      .toEqual({ tenant: demo, platform: undefined, roles: [{ role: 'tenant_admin', scope: '*' }] })
    expect(await claims('platform_admin'))
      .toEqual({ tenant: platform, platform: true, roles: [{ role: 'platform_admin', scope: '*' }] })
    expect(await claims('reviewer'))
      .toEqual({ tenant: platform, platform: true, roles: [{ role: 'reviewer', scope: '*' }] })
  })

  test.each([-1, 1])('takes the code of a clock that is %i step off, but not of two', async (steps) => {
    const account = await bench.user({ totp: true })
    expect((await secondStep(await firstStep(account), account.code(steps * 2))).status).toBe(401)
    expect((await secondStep(await firstStep(account), account.code(steps))).status).toBe(200)
  })

  test('is in the audit log, failed and succeeded', async () => {
    const account = await bench.user({ totp: true })
    const token = await firstStep(account)
    bench.clock.advance(1)
    await secondStep(token, wrongCode(account))
    bench.clock.advance(1)
    await secondStep(token, account.code())
    expect(await bench.rows`select action, actor from identity.audit_events
      where target = ${`user:${account.id}`} order by id`).toEqual([
      { action: 'log_in.challenged', actor: `user:${account.id}` },
      { action: 'log_in.failed', actor: 'anonymous' },
      { action: 'log_in.succeeded', actor: `user:${account.id}` },
    ])
    const everything = JSON.stringify(await bench.rows`select * from identity.audit_events`) + bench.logged.join('')
    expect(bench.logged.join('')).toContain('refused')
    expect(everything).not.toContain(token)
  })
})

describe('works once', () => {
  test('a code, with any mfa_token, and with it every older code', async () => {
    const account = await bench.user({ totp: true })
    const code = account.code()
    expect((await secondStep(await firstStep(account), code)).status).toBe(200)
    const again = await firstStep(account)
    expect((await secondStep(again, code)).status).toBe(401)
    expect((await secondStep(again, account.code(-1))).status).toBe(401)
    bench.clock.advance(30_000)
    expect((await secondStep(again, account.code())).status).toBe(200)
  })

  test('an mfa_token', async () => {
    const account = await bench.user({ totp: true })
    const token = await firstStep(account)
    expect((await secondStep(token, account.code())).status).toBe(200)
    bench.clock.advance(30_000)
    expect((await secondStep(token, account.code())).status).toBe(401)
  })

  test('an mfa_token and its code, when two processes are asked at once', async () => {
    const account = await bench.user({ totp: true })
    const token = await firstStep(account)
    const codes = [account.code(), account.code(1), account.code(), account.code(1)]
    const answers = await Promise.all(codes.map((code, at) => secondStep(token, code, at % 2 ? bench.twin : bench)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(3)
    expect(await bench.rows`select from identity.sessions where user_id = ${account.id}`).toHaveLength(1)
  })
})

describe('an mfa_token ends', () => {
  test('after five tries, though the sixth is right', async () => {
    const account = await bench.user({ totp: true })
    const token = await firstStep(account)
    for (let at = 0; at < 5; at += 1) expect((await secondStep(token, wrongCode(account))).status).toBe(401)
    expect((await secondStep(token, account.code())).status).toBe(401)
    const [challenge] = await bench.rows`select tries from identity.log_in_challenges where user_id = ${account.id}`
    expect(challenge?.tries).toBe(5)
  })

  test('and takes no more than five when two processes are asked at once', async () => {
    const account = await bench.user({ totp: true })
    const token = await firstStep(account)
    const callers = Array.from({ length: 12 }, (_, at) => at % 2 ? bench.twin : bench)
    await Promise.all(callers.map((caller) => secondStep(token, wrongCode(account), caller)))
    const failures = await bench.rows`select from identity.audit_events
      where target = ${`user:${account.id}`} and action = 'log_in.failed'`
    expect(failures).toHaveLength(5)
  })

  test('after five minutes', async () => {
    const account = await bench.user({ totp: true })
    const [token, other] = [await firstStep(account), await firstStep(account)]
    bench.clock.advance(299_000)
    expect((await secondStep(token, account.code())).status).toBe(200)
    bench.clock.advance(31_000)
    expect((await secondStep(other, account.code())).status).toBe(401)
  })

  test('when the account is disabled', async () => {
    const account = await bench.user({ totp: true })
    const token = await firstStep(account)
    await bench.database.query((sql) => disableUser(sql, bench.seeded.tenant_id, account.id, bench.clock.now()))
    expect((await secondStep(token, account.code())).status).toBe(401)
    expect(await bench.rows`select from identity.sessions where user_id = ${account.id}`).toHaveLength(0)
  })

  test('and is cleared away later', async () => {
    await firstStep(await bench.user({ totp: true }))
    bench.clock.advance(21 * 60_000)
    await firstStep(await bench.user({ totp: true }))
    const now = bench.clock.now().toISOString()
    expect(await bench.rows`select from identity.log_in_challenges where expires_at < ${now}::timestamptz`)
      .toHaveLength(0)
  })
})

test('a wrong code, a used code, and an unknown, used or expired mfa_token are answered alike', async () => {
  const account = await bench.user({ totp: true })
  const [token, expired] = [await firstStep(account), await firstStep(account)]
  const refusals = [await secondStep(token, wrongCode(account))]
  const code = account.code()
  expect((await secondStep(token, code)).status).toBe(200)
  const unknown = `mfa_${'x'.repeat(43)}`
  const later =
    [await secondStep(token, account.code(1)), await secondStep(expired, code), await secondStep(unknown, code)]
  refusals.push(...later)
  bench.clock.advance(301_000)
  refusals.push(await secondStep(expired, account.code()))
  const told = refusals.map(({ status, body, headers }) => {
    const { request_id: _, ...rest } = body as unknown as Record<string, unknown>
    return { status, rest, challenge: headers.get('www-authenticate') }
  })
  expect(told[0]).toMatchObject({ status: 401, challenge: 'Bearer', rest: { error: 'unauthenticated' } })
  for (const each of told) expect(each).toEqual(told[0])
})

test('a body that breaks the document is refused, and names what is wrong', async () => {
  const refusal = async (body: object) =>
    bench.send('completeLogIn', { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) })
  const token = `mfa_${'x'.repeat(43)}`
  for (const [body, field] of [
    [{ mfa_token: token }, 'code'], [{ mfa_token: token, code: '12345' }, 'code'],
    [{ mfa_token: token, code: 123456 }, 'code'],
    [{ mfa_token: 'short', code: '123456' }, 'mfa_token'], [{ mfa_token: token, code: '123456', more: 1 }, 'more'],
  ] as const) {
    const fields = { [field]: expect.any(String) as string }
    expect(await refusal(body)).toMatchObject({ status: 400, body: { error: 'validation_failed', fields } })
  }
})
