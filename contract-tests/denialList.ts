import { randomBytes, randomUUID } from 'node:crypto'
import { formatApiKey } from '../domain/apiKeys.ts'
import type { CallerKind, Operation } from '../handlers/http/operation.ts'
import { claimsFor } from './harness/everyOperation.ts'
import type { EveryOperation } from './harness/everyOperation.ts'
import type { Merchant } from './harness/given.ts'
import type { TokenClaims } from './harness/issuer.ts'

export interface Denial {
  name: string
  /** Kinds of caller that it is about. */
  kinds: readonly CallerKind[]
  /** Status and code. */
  answer: string
  credential(operation: Operation): Promise<string | undefined> | string | undefined
  when?(operation: Operation): boolean
}

/** Kinds of caller that bring a key or token. */
export const withCredential: readonly CallerKind[] = [
  'merchant',
  'console',
  'tenant',
  'admin',
  'user',
  'credential',
  'seller',
  'service',
]
const withRole: readonly CallerKind[] = ['merchant', 'console', 'tenant', 'admin', 'seller']
export const scopesOf = ({ caller }: Operation) => caller.scope ?? []
/** A key that nobody was given. */
export const fresh = (environment: 'sandbox' | 'production') => formatApiKey(environment, randomBytes(32))
/** Changes the last character, which belongs to the checksum. */
export const damaged = (key: string) => key.slice(0, -1) + (key.endsWith('0') ? '1' : '0')

const malformed = [
  'nonsense',
  'null',
  'undefined',
  '.',
  '..',
  'a.b',
  'a.b.c',
  'a.b.c.d',
  'sk_',
  'sk_test',
  'sk_test_',
  'sk_test_short',
  'SK_TEST_x',
  'sk_test_' + 'x'.repeat(49),
  'pk_test_' + 'x'.repeat(49),
  'eyJ.eyJ.',
  'e30.e30.',
  'e30.e30.e30',
  `${'x'.repeat(4000)}.y.z`,
  '{}',
  "'or'1'='1",
  '%00',
  '*',
]

const invalid = (name: string, credential: Denial['credential']): Denial => ({
  name,
  kinds: withCredential,
  answer: '401 unauthenticated',
  credential,
})

/** Every way in which a credential can be wrong for an operation of `merchant`, with what it is answered. */
export function denialsOf({ issuer, payments: { given, clock } }: EveryOperation, merchant: Merchant): Denial[] {
  const token = (claims: TokenClaims) => (operation: Operation) => issuer.token(claimsFor(operation, claims))
  return [
    invalid('no credential', () => undefined),
    ...malformed.map((text) => invalid(`a malformed credential (${text.slice(0, 20)})`, () => text)),
    invalid('a token under a key that the issuer never published', (operation) =>
      issuer.forgedToken(claimsFor(operation)),
    ),
    invalid('a token signed by HMAC with the public key', (operation) => issuer.confusedToken(claimsFor(operation))),
    invalid('an unsigned token', (operation) => issuer.unsignedToken(claimsFor(operation))),
    invalid('a token whose claims were changed', async (operation) =>
      swapClaims(await issuer.token(claimsFor(operation)), issuer.unsignedToken(claimsFor(operation))),
    ),
    invalid('an expired token', token({ expiresIn: -6 })),
    invalid('a token that is not valid yet', token({ notBefore: 60 })),
    invalid('a token of another issuer', token({ issuer: 'http://other.test' })),
    invalid('a token for another audience', token({ audience: 'other' })),
    invalid('a token of another type', token({ type: 'JWT' })),
    invalid('an ID token', token({ type: 'id+jwt' })),
    {
      name: 'a token of the other environment',
      kinds: withCredential,
      answer: '403 env_mismatch',
      credential: token({ environment: 'production' }),
    },
    {
      name: 'an expired token of the other environment',
      kinds: withCredential,
      answer: '403 env_mismatch',
      credential: token({ environment: 'production', expiresIn: -600 }),
    },
    invalid('a forged token of the other environment', (operation) =>
      issuer.forgedToken(claimsFor(operation, { environment: 'production' })),
    ),
    invalid(
      'a token of another issuer and environment',
      token({ environment: 'production', issuer: 'http://other.test' }),
    ),
    {
      name: 'a key of the other environment',
      kinds: withCredential,
      answer: '403 env_mismatch',
      credential: () => fresh('production'),
    },
    {
      name: 'a damaged key of the other environment',
      kinds: withCredential,
      answer: '403 env_mismatch',
      credential: () => damaged(fresh('production')),
    },
    invalid('a live key of which one character is wrong', async (operation) =>
      damaged(await given.apiKey(merchant, { scopes: scopesOf(operation) })),
    ),
    invalid('a well-formed key that nobody was given', () => fresh('sandbox')),
    invalid('a revoked key', () => given.revokedApiKey(merchant)),
    invalid('an expired key', (operation) =>
      given.apiKey(merchant, { scopes: scopesOf(operation), expiresAt: new Date(clock.now().getTime() - 1) }),
    ),
    invalid('a key in the moment it expires', (operation) =>
      given.apiKey(merchant, { scopes: scopesOf(operation), expiresAt: clock.now() }),
    ),
    {
      name: 'a key without the scope',
      kinds: ['merchant'],
      answer: '403 insufficient_scope',
      credential: (operation) => given.apiKey(merchant, { scopes: otherScopes(operation) }),
    },
    {
      name: 'a key without any scope',
      kinds: ['merchant'],
      answer: '403 insufficient_scope',
      credential: () => given.apiKey(merchant, { scopes: [] }),
    },
    {
      name: 'a key, where people or services act',
      kinds: ['console', 'tenant', 'admin', 'seller'],
      answer: '403 forbidden',
      credential: () => given.apiKey(merchant),
    },
    { name: 'a user without a role', kinds: withRole, answer: '403 forbidden', credential: token({ bindings: [] }) },
    {
      name: 'a user whose role lacks the permission',
      kinds: withRole,
      answer: '403 forbidden',
      credential: token({ bindings: [{ role: 'reviewer', scope: '*' }] }),
      when: ({ caller }) => caller.kind !== 'admin',
    },
    {
      name: 'a user whose role is bound to a merchant',
      kinds: ['tenant', 'admin'],
      answer: '403 forbidden',
      credential: async (operation) =>
        issuer.token({
          ...claimsFor(operation),
          bindings: (claimsFor(operation).bindings ?? []).map(({ role }) => ({
            role,
            scope: `merchant:${merchant.id}`,
          })),
        }),
    },
    {
      name: 'a user whose role is bound to a store',
      kinds: ['merchant', 'console', 'tenant'],
      answer: '403 forbidden',
      credential: async (operation) =>
        issuer.token({
          ...claimsFor(operation),
          bindings: (claimsFor(operation).bindings ?? []).map(({ role }) => ({ role, scope: `pos:${randomUUID()}` })),
        }),
    },
    {
      name: 'a user of a tenant that is not the platform',
      kinds: ['admin'],
      answer: '403 forbidden',
      credential: token({ platform: false }),
    },
    {
      name: 'a service',
      kinds: withRole,
      answer: '403 forbidden',
      credential: (operation) =>
        issuer.token({
          permissions: [operation.caller.permission ?? scopesOf(operation)[0] ?? ''],
          tenantId: merchant.tenantId,
        }),
    },
    {
      name: 'a service without the permission',
      kinds: ['service'],
      answer: '403 forbidden',
      credential: token({ permissions: ['payments.legal.read'] }),
    },
    {
      name: 'a user, where services act',
      kinds: ['service'],
      answer: '403 forbidden',
      credential: () => issuer.token({ bindings: [{ role: 'platform_admin', scope: '*' }], platform: true }),
    },
    {
      name: 'a user without a step-up',
      kinds: withCredential,
      answer: '401 insufficient_user_authentication',
      credential: async (operation) => issuer.token(withoutStepUp(operation)),
      when: ({ rules }) => rules.has('x-step-up'),
    },
    {
      name: 'a user whose step-up is older than 5 minutes',
      kinds: withCredential,
      answer: '401 insufficient_user_authentication',
      credential: token({ stepUpAge: 301 }),
      when: ({ rules }) => rules.has('x-step-up'),
    },
  ]
}

function otherScopes(operation: Operation): string[] {
  return ['payments.payment_intent.create', 'payments.payment_intent.read', 'payments.refund.create'].filter(
    (scope) => !scopesOf(operation).includes(scope),
  )
}

function withoutStepUp(operation: Operation): TokenClaims {
  const { stepUpAge: _, ...claims } = claimsFor(operation)
  return claims
}

function swapClaims(signed: string, other: string): string {
  const [head, , signature] = signed.split('.')
  return [head, other.split('.')[1], signature].join('.')
}
