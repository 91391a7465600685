import { ApiError } from '../../../domain/apiError.ts'
import type { Guard } from '../exchange.ts'

/** `x-environment`: in another environment the operation does not exist. */
export function environment(present: string): Guard {
  return {
    name: 'environment',
    enforces: ['x-environment'],
    compile(operation) {
      const wanted = operation.rules.get('x-environment')
      if (wanted === undefined || wanted === present) return null
      return () => {
        throw new ApiError('not_found')
      }
    },
  }
}
