import { ApiError } from '../../../domain/apiError.ts'
import type { Exchange, Guard } from '../exchange.ts'
import type { Operation } from '../operation.ts'
import { tokenBuckets } from '../tokenBuckets.ts'
import type { TokenBuckets } from '../tokenBuckets.ts'

export interface RateLimits {
  /** Requests a second for each key, user or client; bursts are twice that. */
  perCaller: number
  /** Requests a second for each client address on public operations. */
  perAddress: number
}

type Basis = 'caller' | 'address' | 'client' | 'none'
const unlimitedKinds = new Set(['provider', 'bff', 'shopper'])

/** What an operation is limited by, where `x-rate-limit` does not say otherwise. */
export function limitBasis(operation: Operation): Basis {
  const declared = operation.rules.get('x-rate-limit') as Basis | undefined
  if (declared) return declared
  if (unlimitedKinds.has(operation.caller.kind)) return 'none'
  return operation.caller.kind === 'public' || operation.caller.kind === 'signed-link' ? 'address' : 'caller'
}

/** `x-rate-limit`: token buckets in this process's memory (decision 5.7). `now` is milliseconds on a clock that never steps back. */
export function rateLimit(limits: RateLimits, now: () => number): Guard {
  const callers = tokenBuckets(limits.perCaller, limits.perCaller * 2, now)
  const addresses = tokenBuckets(limits.perAddress, limits.perAddress, now)
  return {
    name: 'rateLimit',
    enforces: ['x-rate-limit'],
    compile(operation) {
      const basis = limitBasis(operation)
      if (basis === 'none') return null
      if (basis === 'client') return null
      const buckets = basis === 'address' ? addresses : callers
      return (exchange) => take(buckets, basis === 'address' ? exchange.address : callerKey(exchange), exchange)
    },
  }
}

/** The part of `x-rate-limit: client` that can only run once the body is read: one bucket for each client id. */
export function clientRateLimit(limits: RateLimits, now: () => number): Guard {
  const clients = tokenBuckets(limits.perCaller, limits.perCaller * 2, now)
  return {
    name: 'clientRateLimit',
    enforces: ['x-rate-limit'],
    compile: (operation) => limitBasis(operation) !== 'client' ? null : (exchange) =>
      take(clients, String((exchange.body as { client_id?: unknown }).client_id), exchange),
  }
}

function take(buckets: TokenBuckets, key: string, { response }: Exchange): void {
  const { allowed, limit, remaining, resetSeconds, retrySeconds } = buckets.take(key)
  response.setHeader('RateLimit-Limit', limit)
  response.setHeader('RateLimit-Remaining', remaining)
  response.setHeader('RateLimit-Reset', resetSeconds)
  if (!allowed) throw new ApiError('rate_limited', { headers: { 'Retry-After': String(retrySeconds) } })
}

function callerKey({ caller, address }: Exchange): string {
  return 'id' in caller ? `${caller.kind}:${caller.id}` : address
}
