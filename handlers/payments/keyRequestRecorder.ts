import { insertApiKeyRequests } from '../../db/payments/apiKeyRequests.ts'
import type { ApiKeyRequestRow } from '../../db/payments/apiKeyRequests.ts'
import { touchApiKeys } from '../../db/payments/apiKeys.ts'
import { newId } from '../../db/ids.ts'
import type { Database } from '../../db/sql.ts'
import type { Runtime } from '../../domain/runtime.ts'
import type { Observation } from '../http/pipeline.ts'

/** Records requests by API key (decision 5.1). */
export interface KeyRequestRecorder {
  observe(observation: Observation): void
  /** Writes what is held. */
  flush(): Promise<void>
  /** Writes what is held and stops. */
  stop(): Promise<void>
}

const flushEveryMs = 1000
const batchMost = 500
/** What is held while the database is away; the oldest go first. A request never waits for its record. */
const heldMost = 20_000

/** A request is recorded after its answer, in batches: it costs the caller nothing, and a killed process loses a second of records. */
export function keyRequestRecorder(database: Database, runtime: Runtime, report: (error: unknown) => void): KeyRequestRecorder {
  let held: ApiKeyRequestRow[] = []
  let writing = Promise.resolve()
  const write = async (): Promise<void> => {
    while (held.length > 0) {
      const batch = held.slice(0, batchMost)
      await database.tx(async (sql) => {
        await insertApiKeyRequests(sql, batch)
        await touchApiKeys(sql, [...new Set(batch.map(({ api_key_id }) => api_key_id))].sort(), runtime.now())
      })
      held = held.slice(batch.length)
    }
  }
  const flush = (): Promise<void> => {
    writing = writing.then(write).catch(report)
    return writing
  }
  const timer = setInterval(() => void flush(), flushEveryMs)
  timer.unref()
  return {
    observe({ operationId, status, code, exchange }) {
      if (exchange?.caller.kind !== 'api_key') return
      const { caller, address, requestId, now } = exchange
      held.push({
        id: newId(runtime), tenant_id: caller.tenantId, merchant_id: caller.merchantId, api_key_id: caller.id, operation_id: operationId, status,
        error: code ?? null, address, request_id: requestId, requested_at: now,
      })
      if (held.length > heldMost) held = held.slice(-heldMost)
    },
    flush,
    async stop() {
      clearInterval(timer)
      await flush()
    },
  }
}
