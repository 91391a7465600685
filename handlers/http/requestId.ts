import type { IncomingMessage } from 'node:http'
import { newId } from '../../db/ids.ts'
import type { Runtime } from '../../domain/runtime.ts'

const form = /^[\x21-\x7e]{1,128}$/
const idBytes = 16
const idsAtOnce = 128

/**
 * The caller's own X-Request-Id where it has a usable form, else a new one (decision 1.6). Random bytes are drawn for
 * many at once, because each draw costs more than the rest of an id.
 */
export function requestIds(runtime: Runtime): (request: IncomingMessage) => string {
  let drawn: Buffer = Buffer.alloc(0)
  let used = 0
  const randomBytes = (size: number): Buffer => {
    if (used + size > drawn.length) {
      drawn = runtime.randomBytes(idBytes * idsAtOnce)
      used = 0
    }
    used += size
    return drawn.subarray(used - size, used)
  }
  const source = { now: () => runtime.now(), randomBytes }
  return (request) => {
    const given = request.headers['x-request-id']
    return typeof given === 'string' && form.test(given) ? given : newId(source)
  }
}
