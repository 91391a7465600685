import { randomBytes } from 'node:crypto'
import type { IdentityBench } from '../../handlers/identity/identityBench.ts'
import type { Operation } from '../../handlers/http/operation.ts'
import { signCallback } from '../../providers/callbackSignature.ts'
import { denialsOf } from '../denialList.ts'
import { claimsFor } from './everyOperation.ts'
import type { EveryOperation } from './everyOperation.ts'
import type { Merchant } from './given.ts'

/** Headers that prove a caller, for a request with this body. */
type Proof = (body: string) => Promise<Record<string, string>>

export interface Credentials {
  good: readonly string[]
  bad: readonly string[]
  /** The headers of a credential by its name; made once, but for what signs the body. */
  headers(name: string, body: string): Promise<Record<string, string>>
}

/** The credentials with which requests of an operation are sent. A public operation has no bad one. */
export function credentialsFor(
  every: EveryOperation,
  identity: IdentityBench,
  operation: Operation,
  merchant: Merchant,
): Credentials {
  const good = goodProofs(every, identity, operation, merchant)
  const bad = badProofs(every, operation, merchant)
  const all: Record<string, Proof> = { ...bad, ...good }
  return {
    good: Object.keys(good),
    bad: Object.keys(bad),
    headers(name, body) {
      const proof = all[name]
      if (!proof) throw new Error(`there is no credential called ${name}`)
      return proof(body)
    },
  }
}

function goodProofs(
  { issuer, payments }: EveryOperation,
  identity: IdentityBench,
  operation: Operation,
  merchant: Merchant,
): Record<string, Proof> {
  const { kind, scope } = operation.caller
  const token = (at: string) =>
    bearer(() => {
      const claims = claimsFor(operation, { tenantId: merchant.tenantId })
      return issuer.token({ ...claims, bindings: (claims.bindings ?? []).map(({ role }) => ({ role, scope: at })) })
    })
  const [atMerchant, atTenant] = [token(`merchant:${merchant.id}`), token('*')]
  const key = bearer(() => payments.given.apiKey(merchant, scope ? { scopes: scope } : {}))
  switch (kind) {
    case 'public':
      return {
        none: async () => ({}),
        'a credential that nobody asked for': async () => ({ Authorization: 'Basic nonsense' }),
      }
    case 'merchant':
      return { 'a key': key, 'a token at the merchant': atMerchant, 'a token at the tenant': atTenant }
    case 'credential':
      return { 'a key': key, 'a token at the merchant': atMerchant }
    case 'console':
      return { 'a token at the merchant': atMerchant, 'a token at the tenant': atTenant }
    case 'tenant':
      return { 'a token at the tenant': atTenant }
    case 'user':
      return { 'a token at the merchant': atMerchant }
    case 'service':
      return { 'a service': bearer(() => identity.serviceToken('payments')) }
    case 'provider':
      return { 'a signature': signature(payments, 0) }
    default:
      throw new Error(`${operation.id}: no credential is known for ${kind}`)
  }
}

function badProofs(every: EveryOperation, operation: Operation, merchant: Merchant): Record<string, Proof> {
  const { payments } = every
  if (operation.caller.kind === 'provider') {
    return {
      'no signature': async () => ({}),
      'a signature of another body': (body) => signature(payments, 0)(`${body} `),
      'a signature under another secret': async (body) => ({
        'X-Simulator-Signature': signCallback(
          randomBytes(32).toString('base64url'),
          Buffer.from(body),
          payments.clock.now(),
        ),
      }),
      'a signature of long ago': signature(payments, -301_000),
      'a malformed signature': async () => ({ 'X-Simulator-Signature': 't=1,v1=00' }),
    }
  }
  // Identity serves both environments (decision 5.2).
  const about = denialsOf(every, merchant).filter(
    ({ name, kinds, when }) =>
      kinds.includes(operation.caller.kind) &&
      (when?.(operation) ?? true) &&
      !(operation.document === 'identity' && name.includes('the other environment')),
  )
  return Object.fromEntries(about.map(({ name, credential }) => [name, bearer(() => credential(operation))]))
}

function bearer(make: () => Promise<string | undefined> | string | undefined): Proof {
  let made: Promise<string | undefined> | undefined
  return async () => {
    made ??= Promise.resolve(make())
    const credential = await made
    return credential === undefined ? {} : { Authorization: `Bearer ${credential}` }
  }
}

function signature({ credential, clock }: EveryOperation['payments'], ageMs: number): Proof {
  return async (body) => ({
    'X-Simulator-Signature': signCallback(
      credential.secret,
      Buffer.from(body),
      new Date(clock.now().getTime() + ageMs),
    ),
  })
}
