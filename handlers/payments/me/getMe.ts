import { permissionsOf } from '../../../domain/permissions.ts'
import type { Caller } from '../../http/caller.ts'
import type { Handler } from '../handler.ts'

export const getMe: Handler<'getMe'> = async ({ app, caller, fail, reply }) => {
  if (caller.kind !== 'api_key' && caller.kind !== 'user' && caller.kind !== 'service') return fail('unauthenticated')
  const tenant = caller.tenantId === null ? null : await app.tenants.find(caller.tenantId)
  return reply(200, {
    environment: app.views.environment,
    caller: { kind: caller.kind, id: caller.id },
    tenant: tenant && { id: tenant.id, name: tenant.name },
    branding: tenant && tenant.branding,
    modules: tenant ? [...tenant.modules] : [],
    merchant_ids: merchantIdsOf(caller),
    permissions: heldBy(caller),
  })
}

function heldBy(caller: Caller): string[] {
  if (caller.kind === 'api_key') return [...new Set(caller.scopes)].sort()
  if (caller.kind === 'service') return [...new Set(caller.permissions)].sort()
  return caller.kind === 'user' ? permissionsOf(caller.bindings) : []
}

function merchantIdsOf(caller: Caller): string[] | null {
  if (caller.kind === 'api_key') return [caller.merchantId]
  if (caller.kind !== 'user' || caller.bindings.some(({ scope }) => scope === '*')) return null
  const places = caller.bindings.filter(({ scope }) => scope.startsWith('merchant:')).map(({ scope }) => scope.slice('merchant:'.length))
  return [...new Set(places)].sort()
}
