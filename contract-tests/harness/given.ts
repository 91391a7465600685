import { randomBytes, randomUUID } from 'node:crypto'
import { insertApiKeyWithFreePrefix } from '../../db/payments/apiKeys.ts'
import { insertCustomer, insertMerchant, putMerchantChannel } from '../../db/payments/merchants.ts'
import type { MerchantRow } from '../../db/payments/merchants.ts'
import type { Database } from '../../db/sql.ts'
import { digestOfApiKey, formatApiKey, prefixOfApiKey } from '../../domain/apiKeys.ts'
import type { Environment } from '../../domain/apiKeys.ts'
import { channelCodes } from '../../domain/channels.ts'
import { defaultScopes } from '../../generated/roles.ts'
import type { TestClock } from './clock.ts'
import type { TestIssuer, TokenClaims } from './issuer.ts'

export interface Merchant {
  id: string
  tenantId: string
}

export interface Given {
  /** A merchant of a tenant of its own, unless told: isolation is tenancy itself. */
  merchant(options?: { tenantId?: string, status?: MerchantRow['status'], channels?: readonly string[], appSchemes?: readonly string[] }): Promise<Merchant>
  apiKey(merchant: Merchant, options?: { scopes?: readonly string[], expiresAt?: Date | null, environment?: Environment }): Promise<string>
  /** Revokes a key as its owner would. */
  revokedApiKey(merchant: Merchant): Promise<string>
  /** A console user's token with one role at one place. */
  token(merchant: Merchant, role: string, scope: string, claims?: TokenClaims): Promise<string>
  customer(merchant: Merchant): Promise<string>
}

/** Makes what a test presupposes, directly in the database where no operation makes it yet. */
export function givenIn(database: Database, clock: TestClock, issuer: TestIssuer): Given {
  const apiKey: Given['apiKey'] = async (merchant, { scopes = defaultScopes, expiresAt = null, environment = 'sandbox' } = {}) => {
    for (;;) {
      const key = formatApiKey(environment, randomBytes(32))
      const row = await database.tx((sql) => insertApiKeyWithFreePrefix(sql, {
        id: randomUUID(), tenantId: merchant.tenantId, merchantId: merchant.id, name: 'Checkout', prefix: prefixOfApiKey(key), digest: digestOfApiKey(key),
        scopes, createdBy: 'user:test', createdAt: clock.now(), expiresAt,
      }))
      // Of thousands of keys of one tenant, two happen to begin alike.
      if (row) return key
    }
  }
  return {
    apiKey,
    async merchant({ tenantId = randomUUID(), status = 'approved', channels = channelCodes, appSchemes = [] } = {}) {
      const id = randomUUID()
      await database.tx(async (sql) => {
        await insertMerchant(sql, {
          id, tenantId, name: 'Warung Contoh', status, city: 'Jakarta', postalCode: '10110', categoryCode: '5411',
          nationalMerchantId: 'ID1234567890123', appSchemes, createdAt: clock.now(),
        })
        for (const channel of channels) await putMerchantChannel(sql, tenantId, id, channel, true)
      })
      return { id, tenantId }
    },
    async revokedApiKey(merchant) {
      const key = await apiKey(merchant)
      await database.query((sql) => sql`update payments.api_keys set revoked_at = ${clock.now()} where key_sha256 = ${digestOfApiKey(key)}`)
      return key
    },
    token: (merchant, role, scope, claims = {}) => issuer.token({ tenantId: merchant.tenantId, bindings: [{ role, scope }], ...claims }),
    async customer(merchant) {
      const id = randomUUID()
      await database.tx((sql) => insertCustomer(sql, merchant.tenantId, merchant.id, { id, name: null, email: null, phone: null }, clock.now()))
      return id
    },
  }
}
