import { findLiveApiKey, insertApiKeyWithFreePrefix } from '../db/payments/apiKeys.ts'
import { findMerchant, insertMerchant, listMerchantIds, putMerchantChannel } from '../db/payments/merchants.ts'
import { putPspCredential } from '../db/payments/providerCallbacks.ts'
import { newId } from '../db/ids.ts'
import type { Sql } from '../db/sql.ts'
import { digestOfApiKey, formatApiKey, prefixOfApiKey } from '../domain/apiKeys.ts'
import { channelCodes } from '../domain/channels.ts'
import type { Runtime } from '../domain/runtime.ts'
import { sealingNonceBytes } from '../domain/sealing.ts'
import type { SealingKeys } from '../domain/sealing.ts'
import { credentialIdentity } from '../handlers/payments/providerProof.ts'

/** The scopes that the brief names for API keys. */
export const demoScopes = [
  'payments.payment_intent.create', 'payments.payment_intent.read', 'payments.payment_intent.cancel', 'payments.refund.create',
] as const

export interface PaymentsSeed {
  tenantId: string
  /** Who is said to have made the key. */
  createdBy: string
  /** Used for a new merchant; one that the tenant has already is taken instead. */
  merchantId: string
  /** The key of an earlier run; null makes a new one. */
  apiKey: string | null
  credential: { id: string, secret: string }
  sealing: SealingKeys
  runtime: Pick<Runtime, 'now' | 'randomBytes'>
}

/**
 * Gives the demo tenant an approved merchant with every channel, an API key with the brief's four scopes, and the
 * simulator's credential, in the caller's transaction. What is there stays; a key that was revoked is replaced.
 */
export async function seedPayments(sql: Sql, seed: PaymentsSeed): Promise<{ merchantId: string, apiKey: string }> {
  const merchantId = await seedMerchant(sql, seed)
  const apiKey = await seedApiKey(sql, seed, merchantId)
  const { credential: { id, secret }, sealing, runtime } = seed
  const sealed = sealing.seal(Buffer.from(secret), credentialIdentity(id), runtime.randomBytes(sealingNonceBytes))
  await putPspCredential(sql, { id, provider: 'simulator', secret: sealed }, runtime.now())
  return { merchantId, apiKey }
}

async function seedMerchant(sql: Sql, { tenantId, merchantId, runtime }: PaymentsSeed): Promise<string> {
  if (await findMerchant(sql, tenantId, merchantId)) return merchantId
  const [present] = await listMerchantIds(sql, tenantId, 1)
  if (present !== undefined) return present
  await insertMerchant(sql, {
    id: merchantId, tenantId, name: 'Toko Demo', status: 'approved', city: 'Jakarta', postalCode: '10110', categoryCode: '5411',
    nationalMerchantId: `ID${'1'.padEnd(13, '0')}`, appSchemes: ['bayardemo'], createdAt: runtime.now(),
  })
  for (const code of channelCodes) await putMerchantChannel(sql, tenantId, merchantId, code, true)
  return merchantId
}

async function seedApiKey(sql: Sql, { tenantId, apiKey, createdBy, runtime }: PaymentsSeed, merchantId: string): Promise<string> {
  const now = runtime.now()
  if (apiKey !== null) {
    const live = await findLiveApiKey(sql, digestOfApiKey(apiKey), now)
    if (live?.merchant_id === merchantId) return apiKey
  }
  for (;;) {
    const fresh = formatApiKey('sandbox', runtime.randomBytes(32))
    const made = await insertApiKeyWithFreePrefix(sql, {
      id: newId(runtime), tenantId, merchantId, name: 'Development run', prefix: prefixOfApiKey(fresh), digest: digestOfApiKey(fresh),
      scopes: demoScopes, createdBy, createdAt: now, expiresAt: null,
    })
    if (made) return fresh
  }
}
