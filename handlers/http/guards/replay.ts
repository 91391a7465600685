import type { Database } from '../../../db/sql.ts'
import { Replay } from '../exchange.ts'
import type { Guard } from '../exchange.ts'
import { assertSameRequest, idempotentRequest, replayOf } from '../idempotency.ts'
import type { IdempotencyStore } from '../idempotency.ts'

/**
 * A retry is answered before anything that it could no longer satisfy: the feature switched off meanwhile, the shop
 * closed, the captcha used up. Where none of these stands behind, the claim inside the transaction answers it.
 */
export function replay(store: IdempotencyStore | undefined, database: Database): Guard {
  return {
    name: 'replay',
    enforces: [],
    compile(operation) {
      if (!operation.rules.has('x-idempotency')) return null
      if (!store) throw new Error(`${operation.id}: this service keeps no idempotency keys, so nothing enforces x-idempotency`)
      if (!['x-feature', 'x-when-closed', 'x-captcha'].some((rule) => operation.rules.has(rule))) return null
      return async (exchange) => {
        const request = idempotentRequest(exchange)
        const stored = request && await database.query((sql) => store.find(sql, request))
        if (!stored) return
        assertSameRequest(stored.fingerprint, request)
        if (stored.reply) throw new Replay(replayOf(stored.reply))
      }
    },
  }
}
