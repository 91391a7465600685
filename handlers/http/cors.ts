import type { ServerResponse } from 'node:http'
import type { Operation } from './operation.ts'

/** `x-cors: open`: a browser of any origin may call the operation, without credentials. All others are closed. */
export function isOpenToBrowsers(operation: Operation): boolean {
  return operation.rules.get('x-cors') === 'open'
}

/** Marks an answer that any origin may read. */
export function allowAnyOrigin(response: ServerResponse): void {
  response.setHeader('Access-Control-Allow-Origin', '*')
  response.setHeader('Access-Control-Expose-Headers', 'X-Request-Id, Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset')
}

/** What a preflight request is answered for a path whose `methods` are open to browsers. */
export function preflightHeaders(methods: readonly string[]): Record<string, string> {
  return {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Methods': methods.join(', '),
    'Access-Control-Allow-Headers': 'Content-Type, X-Request-Id',
    'Access-Control-Max-Age': '7200',
  }
}
