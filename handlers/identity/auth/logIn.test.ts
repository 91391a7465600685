import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { disableUser, insertUser } from '../../../db/identity/users.ts'
import type { Account, IdentityBench } from '../identityBench.ts'
import { startIdentity } from '../identityBench.ts'

/** Every hash that is derived, with what the service's database was doing meanwhile. */
const derivations = vi.hoisted(() => ({ seen: [] as { cost: number, busy: number }[], busy: (): number => 0 }))
vi.mock('node:crypto', async (original) => {
  const crypto = await original<typeof import('node:crypto')>()
  return {
    ...crypto,
    scrypt: (...parameters: Parameters<typeof crypto.scrypt>) => {
      const options = parameters[3] as { N: number, r: number, p: number }
      derivations.seen.push({ cost: options.N * options.r * options.p, busy: derivations.busy() })
      crypto.scrypt(...parameters)
    },
  }
})

let bench: IdentityBench
beforeAll(async () => {
  bench = await startIdentity()
  derivations.busy = () => bench.serviceDatabase.stats().busy
})
beforeEach(() => {
  derivations.seen.length = 0
})

function credentials({ email, password }: Account): { email: string, password: string } {
  return { email, password }
}

function nobody(): { email: string, password: string } {
  return { email: `nobody-${crypto.randomUUID()}@demo.example`, password: 'x' }
}

async function tokenOf(account: Account, body: object = {}): Promise<string> {
  const answer = await bench.call('logIn', { body: { ...credentials(account), ...body } })
  if (answer.status !== 200 || answer.body.access_token === null) throw new Error(`logIn answered ${answer.status}`)
  return answer.body.access_token
}

describe('an account without authenticator', () => {
  test('gets tokens, and the access token is what decision 5.4 and RFC 9068 say', async () => {
    const account = await bench.user()
    const answer = await bench.call('logIn', { body: credentials(account) })
    expect(answer).toMatchObject({
      status: 200, body: {
        status: 'authenticated', token_type: 'Bearer', expires_in: 600, mfa_token: null, mfa_expires_in: null,
      },
    })
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const { access_token: token, refresh_token: refresh } =
      answer.body as { access_token: string, refresh_token: string }
    const { payload, protectedHeader } = await bench.verified(token)
    const now = Math.floor(bench.clock.now().getTime() / 1000)
    expect(protectedHeader).toMatchObject({ alg: 'ES256', typ: 'at+jwt' })
    expect(payload).toEqual({
      iss: bench.issuer, aud: 'bayar', sub: account.id, client_id: 'console', tenant_id: bench.seeded.tenant_id,
      env: 'sandbox', jti: expect.stringMatching(/^[0-9a-f-]{36}$/), iat: now, exp: now + 600,
      role_bindings: [], acr: 'pwd', auth_time: now,
    })
    expect(refresh).toMatch(/^rt_[0-9A-Za-z]{43}$/)
    const [session] = await bench.rows`select *, encode(refresh_token_sha256, 'hex') as digest
      from identity.sessions where user_id = ${account.id}`
    expect(session).toMatchObject({ authentication: 'pwd', environment: 'sandbox', ended_at: null })
    const digest = await crypto.subtle.digest('SHA-256', Buffer.from(refresh))
    expect(session?.digest).toBe(Buffer.from(digest).toString('hex'))
  })

  test('its token ends after ten minutes', async () => {
    const token = await tokenOf(await bench.user())
    bench.clock.advance(599_000)
    await bench.verified(token)
    bench.clock.advance(2000)
    await expect(bench.verified(token)).rejects.toMatchObject({ code: 'ERR_JWT_EXPIRED' })
  })

  test('its address counts alike in upper and lower case', async () => {
    const account = await bench.user()
    const answer = await bench.call('logIn', { body: { ...credentials(account), email: account.email.toUpperCase() } })
    expect(answer.status).toBe(200)
  })

  test('a password counts alike however its accents are composed', async () => {
    const id = crypto.randomUUID()
    const { passwords } = await import('../../../domain/passwords.ts')
    const passwordHash = await passwords(bench.runtime).hash('caf\u00e9 caf\u00e9')
    const user = { id, tenantId: bench.seeded.tenant_id, email: `${id}@demo.example`, passwordHash }
    await bench.database.query((sql) => insertUser(sql, user, bench.clock.now()))
    const answer = await bench.call('logIn', { body: { email: user.email, password: 'cafe\u0301 cafe\u0301' } })
    expect(answer.status).toBe(200)
  })

  test('the environment that is asked for is in the token and remembered for the next log-in', async () => {
    const account = await bench.user()
    const env = async (body: object) => (await bench.verified(await tokenOf(account, body))).payload.env
    expect(await env({})).toBe('sandbox')
    expect(await env({ environment: 'production' })).toBe('production')
    expect(await env({})).toBe('production')
  })
})

test('an account with authenticator gets an mfa_token and nothing else', async () => {
  const account = await bench.user({ totp: true })
  const answer = await bench.call('logIn', { body: credentials(account) })
  expect(answer).toMatchObject({
    status: 200,
    body: {
      status: 'mfa_required', token_type: null, access_token: null, expires_in: null, refresh_token: null,
      mfa_token: expect.stringMatching(/^mfa_[0-9A-Za-z]{43}$/), mfa_expires_in: 300,
    },
  })
  expect(await bench.rows`select from identity.sessions where user_id = ${account.id}`).toHaveLength(0)
})

describe('a log-in that is refused', () => {
  const refused = async (): Promise<Record<string, { email: string, password: string }>> => {
    const [wrong, wrongWithTotp, disabled, suspended] = await Promise.all([
      bench.user(), bench.user({ totp: true }), bench.user(), bench.user({ tenantId: await suspendedTenant() }),
    ])
    await bench.database.query((sql) => disableUser(sql, bench.seeded.tenant_id, disabled.id, bench.clock.now()))
    return {
      'unknown address': { email: `nobody-${crypto.randomUUID()}@demo.example`, password: wrong.password },
      'wrong password': { email: wrong.email, password: `${wrong.password}x` },
      'wrong password with authenticator': { email: wrongWithTotp.email, password: `${wrongWithTotp.password}x` },
      'disabled user': credentials(disabled),
      'suspended tenant': credentials(suspended),
    }
  }

  test('is answered alike whatever the reason, and costs one hash of the same strength', async () => {
    const cases = await refused()
    const answers = []
    for (const body of Object.values(cases)) {
      derivations.seen.length = 0
      const { status, body: said, headers } = await bench.call('logIn', { body })
      const { request_id, ...rest } = said as unknown as Record<string, unknown>
      expect(request_id).toBe(headers.get('x-request-id'))
      const volatile = ['date', 'x-request-id']
      answers.push({
        status, rest, derivations: derivations.seen.map(({ cost }) => cost),
        headers: [...headers].filter(([name]) => !volatile.includes(name) && !name.startsWith('ratelimit')),
      })
    }
    expect(answers[0])
      .toMatchObject({ status: 401, rest: { error: 'unauthenticated' }, derivations: [2 ** 15 * 8 * 3] })
    for (const answer of answers) expect(answer).toEqual(answers[0])
  })

  test('holds no database connection while the password is hashed', async () => {
    const account = await bench.user()
    derivations.seen.length = 0
    await bench.call('logIn', { body: credentials(account) })
    expect(derivations.seen.map(({ busy }) => busy)).toEqual([0])
  })

  test('is in the audit log, as is a good one, without address or password', async () => {
    const account = await bench.user()
    const wrong = await bench.call('logIn', { body: { ...credentials(account), password: 'wrong' } })
    bench.clock.advance(1)
    const good = await bench.call('logIn', { body: credentials(account) })
    const requestId = (answer: { headers: Headers }) => answer.headers.get('x-request-id')
    const rows = await bench.rows`select tenant_id, actor, action, target, request_id from identity.audit_events
      where target = ${`user:${account.id}`} order by id`
    const [tenant_id, target] = [bench.seeded.tenant_id, `user:${account.id}`]
    expect(rows).toEqual([
      { tenant_id, target, actor: 'anonymous', action: 'log_in.failed', request_id: requestId(wrong) },
      { tenant_id, target, actor: target, action: 'log_in.succeeded', request_id: requestId(good) },
    ])
    const everything = JSON.stringify(await bench.rows`select * from identity.audit_events`) + bench.logged.join('')
    expect(bench.logged.join('')).toContain('refused')
    for (const secret of [account.email, account.password]) expect(everything).not.toContain(secret)
  })
})

describe('an account takes ten tries in fifteen minutes', () => {
  const tries = async (account: { email: string, password: string }, times: number): Promise<number[]> => {
    const statuses = []
    for (let at = 0; at < times; at += 1) statuses.push((await bench.call('logIn', { body: account })).status)
    return statuses
  }

  test.each([
    ['a known account, the right password coming last', true], ['an unknown account', false],
  ])('%s', async (_title, known) => {
    const account = known ? credentials(await bench.user()) : nobody()
    expect(await tries({ ...account, password: 'wrong' }, 10)).toEqual(Array(10).fill(401))
    bench.clock.advance(60_000)
    const answer = await bench.call('logIn', { body: account })
    expect(answer).toMatchObject({ status: 429, body: { error: 'rate_limited' } })
    expect(answer.headers.get('retry-after')).toBe('840')
    expect(answer.headers.get('ratelimit-remaining')).toBe('0')
    expect(await bench.twin.call('logIn', { body: account })).toMatchObject({ status: 429 })
    bench.clock.advance(840_000)
    expect((await bench.call('logIn', { body: account })).status).toBe(known ? 200 : 401)
  })

  test('good log-ins count as well', async () => {
    expect(await tries(credentials(await bench.user()), 11)).toEqual([...Array<number>(10).fill(200), 429])
  })

  test('a refused try costs no hash and does not prolong the wait', async () => {
    const account = credentials(await bench.user())
    await tries({ ...account, password: 'wrong' }, 10)
    derivations.seen.length = 0
    bench.clock.advance(899_000)
    expect(await tries(account, 3)).toEqual([429, 429, 429])
    expect(derivations.seen).toHaveLength(0)
    bench.clock.advance(1000)
    expect(await tries(account, 1)).toEqual([200])
  })

  test('no more of them even when two processes are asked at once', async () => {
    const account = credentials(await bench.user())
    const both = await Promise.all(Array.from({ length: 16 }, (_, at) =>
      (at % 2 ? bench : bench.twin).call('logIn', { body: account })))
    const counts = Map.groupBy(both, ({ status }) => status)
    expect([counts.get(200)?.length, counts.get(429)?.length]).toEqual([10, 6])
  })

  test('a request that does not validate is no try', async () => {
    const account = credentials(await bench.user())
    for (let at = 0; at < 11; at += 1) await bench.send('logIn', json({ ...account, remember: true }))
    expect(await tries(account, 1)).toEqual([200])
  })

  test('tries of the past are cleared away', async () => {
    await tries(nobody(), 1)
    bench.clock.advance(31 * 60_000)
    await tries(nobody(), 2)
    const now = bench.clock.now().toISOString()
    expect(await bench.rows`select from identity.log_in_tries
      where last_tried_at < ${now}::timestamptz - interval '30 min'`).toHaveLength(0)
  })
})

describe('a body that breaks the document', () => {
  test.each([
    ['a missing password', { email: 'owner@demo.example' }, 'password'],
    ['an address that is none', { email: 'owner', password: 'x' }, 'email'],
    ['a member that is not known', { email: 'owner@demo.example', password: 'x', admin: true }, 'admin'],
    ['an environment that is none', { email: 'owner@demo.example', password: 'x', environment: 'test' }, 'environment'],
  ])('%s is named', async (_title, body, field) => {
    expect(await bench.send('logIn', json(body)))
      .toMatchObject({ status: 400, body: { error: 'validation_failed', fields: { [field]: expect.any(String) } } })
  })

  test('broken JSON, another media type, too many bytes and an unservable Accept each have their code', async () => {
    const type = { 'Content-Type': 'application/json' }
    const good = JSON.stringify({ email: 'owner@demo.example', password: 'x' })
    const answers = [
      await bench.send('logIn', { headers: type, body: '{"email":' }),
      await bench.send('logIn', { headers: { 'Content-Type': 'text/plain' }, body: good }),
      await bench.send('logIn', { headers: type, body: `${good}${' '.repeat(300_000)}` }),
      await bench.send('logIn', { headers: { ...type, Accept: 'text/html' }, body: good }),
    ]
    expect(answers.map(({ body }) => body.error))
      .toEqual(['invalid_json', 'unsupported_media_type', 'payload_too_large', 'not_acceptable'])
  })
})

test('clients of one address are limited beside the accounts', async () => {
  const slow = await startIdentity({ RATE_LIMIT_PER_ADDRESS: '1' })
  const body = nobody()
  const statuses = [await slow.call('logIn', { body }), await slow.call('logIn', { body })].map(({ status }) => status)
  expect(statuses).toEqual([401, 429])
})

test('an account that is disabled while its password is judged gets no tokens', async () => {
  const account = await bench.user()
  const scrypted = new Promise<void>((resolve) => {
    derivations.busy = () => {
      resolve()
      return 0
    }
  })
  const answer = bench.call('logIn', { body: credentials(account) })
  await scrypted
  await bench.database.query((sql) => disableUser(sql, bench.seeded.tenant_id, account.id, bench.clock.now()))
  expect(await answer).toMatchObject({ status: 401, body: { error: 'unauthenticated' } })
})

async function suspendedTenant(): Promise<string> {
  const id = crypto.randomUUID()
  await bench.rows`insert into identity.tenants (id, name, status, display_name, accent_hex, modules, created_at)
    values (${id}, 'Suspended', 'suspended', 'Suspended', '#000000', '{}', now())`
  return id
}

function json(body: object): { headers: Record<string, string>, body: string } {
  return { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }
}
