import { createRemoteJWKSet, jwtVerify } from 'jose'
import { beforeEach, expect, test } from 'vitest'
import { retireSigningKey } from '../../../db/identity/signingKeys.ts'
import type { IdentityBench } from '../identityBench.ts'
import { startIdentity } from '../identityBench.ts'

let bench: IdentityBench
beforeEach(async () => {
  bench = await startIdentity()
})

async function kids(caller: Pick<IdentityBench, 'call'> = bench): Promise<string[]> {
  const answer = await caller.call('getJwks')
  if (answer.status !== 200) throw new Error(`getJwks answered ${answer.status}`)
  return answer.body.keys.map(({ kid }) => kid)
}

async function retire(): Promise<void> {
  await bench.database.query((sql) => retireSigningKey(sql, bench.clock.now()))
}

test('the key set is public, and holds no private half', async () => {
  const answer = await bench.call('getJwks')
  expect(answer).toMatchObject({ status: 200, body: { keys: [{ kty: 'EC', crv: 'P-256', use: 'sig', alg: 'ES256' }] } })
  const [key] = (answer.body as { keys: object[] }).keys
  expect(Object.keys(key ?? {}).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'])
})

test('a verifier that knows nothing but the address takes our tokens', async () => {
  const keys = createRemoteJWKSet(new URL(`${bench.url}/v1/.well-known/jwks.json`))
  const token = await bench.serviceToken('payments')
  const { payload } = await jwtVerify(token, keys, { issuer: bench.issuer, currentDate: bench.clock.now() })
  expect(payload.sub).toBe('payments')
})

test('processes that start at once on an empty database have one key between them', async () => {
  const seen = await Promise.all(Array.from({ length: 8 }, (_, at) => kids(at % 2 ? bench : bench.twin)))
  expect(new Set(seen.flat()).size).toBe(1)
  expect(await bench.rows`select from identity.signing_keys`).toHaveLength(1)
})

test('the private half is stored sealed, and bound to its row', async () => {
  const [kid = ''] = await kids()
  const [row] = await bench.rows`select private_key from identity.signing_keys`
  const sealed = row?.private_key as Buffer
  expect(bench.sealing.open(sealed, `signing_keys:private_key:${kid}`).length).toBeGreaterThan(100)
  expect(() => bench.sealing.open(sealed, `signing_keys:private_key:${crypto.randomUUID()}`)).toThrow()
})

test('a retired key verifies for an hour more, after the present one', async () => {
  const [old = ''] = await kids()
  const token = await bench.serviceToken('payments')
  await retire()
  const [fresh = '', ...others] = await kids()
  expect(others).toEqual([old])
  expect(fresh).not.toBe(old)
  expect((await bench.verified(token)).protectedHeader.kid).toBe(old)
  bench.clock.advance(3_599_000)
  expect(await kids()).toEqual([fresh, old])
  bench.clock.advance(1000)
  expect(await kids()).toEqual([fresh])
})

test('another process takes tokens of a new key at once, and signs with it half a minute later', async () => {
  const kidOf = async (caller: Pick<IdentityBench, 'call'>): Promise<{ kid: string | undefined, token: string }> => {
    const { call } = caller
    const body = { grant_type: 'client_credentials' as const, ...bench.seeded.clients.payments }
    const answer = await call('issueServiceToken', { body })
    const token = (answer.body as { access_token: string }).access_token
    return { kid: (await bench.verified(token)).protectedHeader.kid, token }
  }
  const old = await kidOf(bench.twin)
  await retire()
  // This process reads the keys anew whenever it is asked for them; the other one has them in memory.
  await kids()
  const fresh = await kidOf(bench)
  expect(fresh.kid).not.toBe(old.kid)
  const asked = await bench.twin.call('getTenant', { params: { tenantId: bench.seeded.tenant_id }, as: fresh.token })
  expect(asked.status).toBe(200)
  bench.clock.advance(30_000)
  expect((await kidOf(bench.twin)).kid).toBe(fresh.kid)
})

test('an unknown query parameter and an unservable Accept are refused', async () => {
  expect(await bench.send('getJwks', { query: { kid: '1' } }))
    .toMatchObject({ status: 400, body: { error: 'validation_failed' } })
  expect(await bench.send('getJwks', { headers: { Accept: 'text/html' } }))
    .toMatchObject({ status: 406, body: { error: 'not_acceptable' } })
})

test('without its database the answer is 503 with Retry-After', async () => {
  await bench.serviceDatabase.end(100)
  const answer = await bench.call('getJwks')
  expect(answer).toMatchObject({ status: 503, body: { error: 'unavailable' } })
  expect(answer.headers.get('retry-after')).toBe('1')
})
