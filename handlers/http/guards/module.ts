import { ApiError } from '../../../domain/apiError.ts'
import type { Exchange, Guard } from '../exchange.ts'

/** Tells which modules a tenant has switched on. */
export type ModulesOf = (tenantId: string) => Promise<readonly string[]>

/** `x-module`: operations of a module that the tenant has not switched on answer 403 (decision 10). */
export function module(modulesOf: ModulesOf | undefined): Guard {
  return {
    name: 'module',
    enforces: ['x-module'],
    compile(operation) {
      const name = operation.rules.get('x-module') as string | undefined
      if (name === undefined) return null
      if (!modulesOf) throw new Error(`${operation.id}: this service knows no modules, so nothing enforces x-module`)
      return async (exchange) => {
        const tenantId = tenantOf(exchange)
        if (tenantId === undefined || !(await modulesOf(tenantId)).includes(name)) {
          throw new ApiError('forbidden', { message: `The module ${name} is not switched on.` })
        }
      }
    },
  }
}

function tenantOf({ caller, site }: Exchange): string | undefined {
  return site?.tenantId ?? ('tenantId' in caller ? caller.tenantId ?? undefined : undefined)
}
