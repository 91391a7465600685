import type { IncomingMessage } from 'node:http'
import { newId } from '../../db/ids.ts'
import type { Runtime } from '../../domain/runtime.ts'

const form = /^[\x21-\x7e]{1,128}$/

/** The caller's own X-Request-Id where it has a usable form, else a new one (decision 1.6). */
export function requestIdOf(request: IncomingMessage, runtime: Runtime): string {
  const given = request.headers['x-request-id']
  return typeof given === 'string' && form.test(given) ? given : newId(runtime)
}
