/** A role held at a place: `*`, `merchant:<id>` or `pos:<store id>` (decision 5.4). */
export interface RoleBinding {
  role: string
  scope: string
}

/** Who sends a request, once its credential is proven. */
export type Caller =
  | { kind: 'anonymous' }
  | { kind: 'api_key', id: string, tenantId: string, merchantId: string, scopes: readonly string[], prefix: string, createdBy: string }
  | { kind: 'user', id: string, tenantId: string, platform: boolean, bindings: readonly RoleBinding[], stepUpAt: Date | null, tokenId: string }
  | { kind: 'service', id: string, tenantId: string | null, permissions: readonly string[], tokenId: string }
  | { kind: 'shopper', id: string, siteId: string }
  | { kind: 'provider', credentialId: string, provider: string }

/** Which rows the caller may touch. `merchantIds` is null when every merchant of the tenant is within reach. */
export interface Reach {
  tenantId: string
  merchantIds: readonly string[] | null
}

/** Who did it, for the audit log: kind and id. */
export function actorOf(caller: Caller): string {
  return 'id' in caller ? `${caller.kind}:${caller.id}` : caller.kind === 'provider' ? `provider:${caller.credentialId}` : caller.kind
}
