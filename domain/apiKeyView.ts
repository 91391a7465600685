import type { components } from '../generated/payments.ts'

export type ApiKeyView = components['schemas']['ApiKey']

interface ApiKeyRow {
  id: string
  merchant_id: string
  name: string
  prefix: string
  scopes: string[]
  created_at: Date
  expires_at: Date | null
  revoked_at: Date | null
  last_used_at: Date | null
}

/** A key as its owner sees it; the value is never part of it. */
export function apiKeyView(key: ApiKeyRow): ApiKeyView {
  return {
    id: key.id,
    merchant_id: key.merchant_id,
    name: key.name,
    prefix: key.prefix,
    scopes: key.scopes,
    created_at: key.created_at.toISOString(),
    expires_at: key.expires_at?.toISOString() ?? null,
    revoked_at: key.revoked_at?.toISOString() ?? null,
    last_used_at: key.last_used_at?.toISOString() ?? null,
  }
}
