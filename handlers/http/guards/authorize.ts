import { placesOf } from '../../../domain/permissions.ts'
import { ApiError } from '../../../domain/apiError.ts'
import type { Caller, Reach } from '../caller.ts'
import type { Exchange, Guard } from '../exchange.ts'
import type { CallerKind, Operation } from '../operation.ts'

/** `x-caller`, second half: may the caller do this, and to which rows. */
export function authorize(): Guard {
  return {
    name: 'authorize',
    enforces: ['x-caller'],
    compile(operation) {
      const rule = rules[operation.caller.kind]
      if (!rule) return null
      return (exchange) => {
        exchange.reach = rule(exchange, operation)
      }
    },
  }
}

type Rule = (exchange: Exchange, operation: Operation) => Reach | undefined

const rules: Partial<Record<CallerKind, Rule>> = {
  merchant: ({ caller }, { caller: { scope = [] } }) => caller.kind === 'api_key' ? byScope(caller, scope) : byPermission(caller, scope),
  console: ({ caller }, { caller: { permission = '' } }) => byPermission(caller, [permission]),
  tenant: ({ caller }, { caller: { permission = '' } }) => everywhere(caller, permission),
  admin: ({ caller }, { caller: { permission = '' } }) => {
    if (caller.kind !== 'user' || !caller.platform) throw forbidden(permission)
    return everywhere(caller, permission)
  },
  seller: ({ caller }, { caller: { permission = '' } }) => byPermission(caller, [permission], true),
  service: ({ caller }, { caller: { permission = '' } }) => {
    if (caller.kind !== 'service' || !caller.permissions.includes(permission)) throw forbidden(permission)
    return caller.tenantId === null ? undefined : { tenantId: caller.tenantId, merchantIds: null }
  },
  user: ({ caller }) => {
    if (caller.kind !== 'user') throw new ApiError('unauthenticated', { message: 'This operation takes the access token of a console user.' })
    return { tenantId: caller.tenantId, merchantIds: null }
  },
  credential: ({ caller }) => {
    if (caller.kind === 'api_key') return { tenantId: caller.tenantId, merchantIds: [caller.merchantId] }
    return 'tenantId' in caller && caller.tenantId !== null ? { tenantId: caller.tenantId, merchantIds: null } : undefined
  },
}

function byScope(key: Extract<Caller, { kind: 'api_key' }>, scopes: readonly string[]): Reach {
  if (!scopes.some((scope) => key.scopes.includes(scope))) {
    throw new ApiError('insufficient_scope', { message: `The key lacks the scope ${scopes.join(' or ')}.` })
  }
  return { tenantId: key.tenantId, merchantIds: [key.merchantId] }
}

/** A role at a store counts for that store's seller operations only (decision 5.4). */
function byPermission(caller: Caller, permissions: readonly string[], storesCount = false): Reach {
  if (caller.kind !== 'user') throw forbidden(permissions.join(' or '))
  const places = permissions.flatMap((permission) => placesOf(caller.bindings, permission)).filter((place) => storesCount || !place.startsWith('pos:'))
  if (places.length === 0) throw forbidden(permissions.join(' or '))
  if (places.includes('*')) return { tenantId: caller.tenantId, merchantIds: null }
  return { tenantId: caller.tenantId, merchantIds: [...new Set(places)].filter((place) => place.startsWith('merchant:')).map((place) => place.slice(9)) }
}

function everywhere(caller: Caller, permission: string): Reach {
  if (caller.kind !== 'user' || !placesOf(caller.bindings, permission).includes('*')) throw forbidden(permission)
  return { tenantId: caller.tenantId, merchantIds: null }
}

function forbidden(permission: string): ApiError {
  return new ApiError('forbidden', { message: `The permission ${permission} is missing.` })
}
