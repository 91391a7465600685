import { beforeAll, expect, test } from 'vitest'
import type { IdentityBench } from '../identityBench.ts'
import { startIdentity } from '../identityBench.ts'

let bench: IdentityBench
beforeAll(async () => {
  bench = await startIdentity()
})

test('the metadata is where the issuer says (RFC 8414), and its addresses are those of the operations', async () => {
  const path = new URL(`${bench.issuer}/.well-known/openid-configuration`).pathname
  const metadata =
    await (await fetch(bench.url + path)).json() as { issuer: string, jwks_uri: string, token_endpoint: string }
  expect(metadata.issuer).toBe(bench.issuer)
  const here = (address: string) => bench.url + new URL(address).pathname
  const jwks = await (await fetch(here(metadata.jwks_uri))).json() as { keys: object[] }
  expect(jwks.keys).toHaveLength(1)
  const grant = { grant_type: 'client_credentials', ...bench.seeded.clients.payments }
  const token = await fetch(here(metadata.token_endpoint), { method: 'POST', body: new URLSearchParams(grant) })
  expect(token.status).toBe(200)
})

test('what the issuer can do is told in full', async () => {
  expect(await bench.call('getIssuerMetadata')).toMatchObject({
    status: 200, body: {
      token_endpoint_auth_methods_supported: ['client_secret_post'], grant_types_supported: ['client_credentials'],
      id_token_signing_alg_values_supported: ['ES256'], subject_types_supported: ['public'],
      response_types_supported: ['none'],
    },
  })
})

test('an unknown query parameter and an unservable Accept are refused', async () => {
  expect(await bench.send('getIssuerMetadata', { query: { x: '1' } }))
    .toMatchObject({ status: 400, body: { error: 'validation_failed' } })
  expect(await bench.send('getIssuerMetadata', { headers: { Accept: 'text/html' } })).toMatchObject({ status: 406 })
})
