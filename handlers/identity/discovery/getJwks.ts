import type { Handler } from '../handler.ts'
import { on } from '../signingKeys.ts'

// Read anew each time: a verifier that asks for a key it does not know must not be told an older list.
export const getJwks: Handler<'getJwks'> = async ({ app, reply, sql }) => {
  return reply(200, { keys: await app.signingKeys.published(on(sql)) })
}
