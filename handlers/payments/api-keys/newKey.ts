import { insertApiKeyWithFreePrefix } from '../../../db/payments/apiKeys.ts'
import type { ApiKeyRecord } from '../../../db/payments/apiKeys.ts'
import { newId } from '../../../db/ids.ts'
import type { Sql } from '../../../db/sql.ts'
import { digestOfApiKey, formatApiKey, prefixOfApiKey } from '../../../domain/apiKeys.ts'
import type { Environment } from '../../../domain/apiKeys.ts'
import { placesOf } from '../../../domain/permissions.ts'
import type { Runtime } from '../../../domain/runtime.ts'
import type { Caller } from '../../http/caller.ts'

/** A key to be made. */
export interface KeyRequest {
  tenantId: string
  merchantId: string
  name: string
  scopes: readonly string[]
  createdBy: string
  expiresAt: Date | null
}

const prefixTries = 10
const secretBytes = 32

/** Makes a key whose visible prefix no other key of the tenant has. The full value is in the answer and nowhere else. */
export async function issueKey(
  sql: Sql, request: KeyRequest, environment: Environment, runtime: Pick<Runtime, 'now' | 'randomBytes'>, now: Date,
): Promise<{ row: ApiKeyRecord, key: string }> {
  for (let tries = 0; tries < prefixTries; tries += 1) {
    const key = formatApiKey(environment, runtime.randomBytes(secretBytes))
    const row = await insertApiKeyWithFreePrefix(sql, {
      ...request, id: newId(runtime), prefix: prefixOfApiKey(key), digest: digestOfApiKey(key), createdAt: now,
    })
    if (row) return { row, key }
  }
  throw new Error(`${prefixTries} key prefixes in a row were taken: the random source repeats itself`)
}

/** The scopes that the caller does not hold at the merchant, and so cannot grant (decision 4.3). */
export function scopesNotHeld(caller: Caller, merchantId: string, scopes: readonly string[]): string[] {
  if (caller.kind !== 'user') return [...scopes]
  return scopes.filter((scope) => !placesOf(caller.bindings, scope).some((place) => place === '*' || place === `merchant:${merchantId}`))
}
