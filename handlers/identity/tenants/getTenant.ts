import { findTenant } from '../../../db/identity/tenants.ts'
import type { Handler } from '../handler.ts'

export const getTenant: Handler<'getTenant'> = async ({ caller, fail, params, reply, sql }) => {
  const tenant = await findTenant(sql, params.tenantId)
  // A client of one tenant sees no other; a service of the installation sees them all.
  const within = caller.kind === 'service' && (caller.tenantId === null || caller.tenantId === tenant?.id)
  if (!tenant || !within) return fail('not_found')
  return reply(200, {
    id: tenant.id,
    name: tenant.name,
    status: tenant.status,
    branding: { display_name: tenant.display_name, logo_url: tenant.logo_url, accent_hex: tenant.accent_hex },
    modules: tenant.modules,
  })
}
