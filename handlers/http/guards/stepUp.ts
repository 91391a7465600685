import { ApiError } from '../../../domain/apiError.ts'
import type { Guard } from '../exchange.ts'

/** Longest age of a step-up, in seconds (decision 5.4). */
export const stepUpSeconds = 300

/** `x-step-up`: a token without a fresh step-up is refused as RFC 9470 says. */
export function stepUp(): Guard {
  return {
    name: 'stepUp',
    enforces: ['x-step-up'],
    compile(operation) {
      if (operation.rules.get('x-step-up') !== true) return null
      return ({ caller, now }) => {
        const at = caller.kind === 'user' ? caller.stepUpAt : null
        if (at && now.getTime() - at.getTime() <= stepUpSeconds * 1000) return
        throw new ApiError('insufficient_user_authentication', {
          headers: { 'WWW-Authenticate':
            `Bearer error="insufficient_user_authentication", error_description="A step-up within the last ${stepUpSeconds} seconds is required", acr_values="step-up", max_age="${stepUpSeconds}"` },
        })
      }
    },
  }
}
