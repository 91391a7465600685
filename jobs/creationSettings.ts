import type { Database } from '../db/sql.ts'
import type { Configuration } from '../domain/configuration.ts'
import type { Runtime } from '../domain/runtime.ts'
import { sealingKeys } from '../domain/sealing.ts'
import { paymentProviders } from '../providers/paymentProviders.ts'
import type { CreationSettings } from './chargeCreation.ts'
import { idempotentReplies } from './idempotentReplies.ts'

/** What finishing a creation needs, alike in the payments service and in the worker. */
export function creationSettings(configuration: Configuration, database: Database, runtime: Runtime): CreationSettings {
  return {
    database, runtime,
    providers: paymentProviders(configuration, runtime),
    replies: idempotentReplies(sealingKeys(configuration.SEALING_KEYS), runtime),
    views: { environment: configuration.BAYAR_ENV, baseUrl: configuration.PAYMENTS_URL },
  }
}
