import createClient from 'openapi-fetch'
import type { components, paths } from '../generated/identity.ts'
import { ApiError } from '../domain/apiError.ts'
import type { Runtime } from '../domain/runtime.ts'

export type Tenant = components['schemas']['Tenant']

/** What payments knows of tenants: it asks identity and keeps the answer for a while (decision 2). */
export interface TenantDirectory {
  /** The tenant; null when identity does not know it. Throws 503 `unavailable` when identity cannot be asked and nothing is kept. */
  find(tenantId: string): Promise<Tenant | null>
}

export interface TenantDirectoryOptions {
  identityUrl: string
  clientId: string
  clientSecret: string
  environment: 'sandbox' | 'production'
}

const keepMs = 60_000
const timeoutMs = 2000
/** A token is asked for anew this long before it ends. */
const tokenMarginMs = 30_000
const keptAtMost = 10_000

/** Asks identity by a client-credentials token. */
export function tenantDirectory(options: TenantDirectoryOptions, runtime: Runtime): TenantDirectory {
  const client = createClient<paths>({
    baseUrl: options.identityUrl,
    fetch: (request) => runtime.fetch(request, { signal: AbortSignal.timeout(timeoutMs) }),
  })
  const kept = new Map<string, { tenant: Tenant | null, until: number }>()
  let token: { value: string, until: number } | undefined

  const signIn = async (): Promise<string> => {
    if (token && runtime.now().getTime() < token.until) return token.value
    const { data } = await client.POST('/v1/oauth/token', {
      body: {
        grant_type: 'client_credentials', client_id: options.clientId, client_secret: options.clientSecret, environment: options.environment,
      },
    })
    if (!data) throw new Error('identity issued no token to this service')
    token = { value: data.access_token, until: runtime.now().getTime() + data.expires_in * 1000 - tokenMarginMs }
    return token.value
  }

  const ask = async (tenantId: string): Promise<Tenant | null> => {
    const { data, response } = await client.GET('/v1/internal/tenants/{tenantId}', {
      params: { path: { tenantId } }, headers: { Authorization: `Bearer ${await signIn()}` },
    })
    if (response.status === 401) token = undefined
    if (!data && response.status !== 404) throw new Error(`identity answered ${response.status}`)
    return data ?? null
  }

  return {
    async find(tenantId) {
      const now = runtime.now().getTime()
      const known = kept.get(tenantId)
      if (known && now < known.until) return known.tenant
      try {
        const tenant = await ask(tenantId)
        if (kept.size >= keptAtMost) kept.clear()
        kept.set(tenantId, { tenant, until: now + keepMs })
        return tenant
      } catch (error) {
        throw new ApiError('unavailable', { message: 'The tenant cannot be looked up at present.', headers: { 'Retry-After': '1' } }, error)
      }
    },
  }
}
