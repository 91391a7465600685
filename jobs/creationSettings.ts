import type { Database } from '../db/sql.ts'
import type { Configuration } from '../domain/configuration.ts'
import type { Runtime } from '../domain/runtime.ts'
import { sealingKeys } from '../domain/sealing.ts'
import { paymentProviders, providerName } from '../providers/paymentProviders.ts'
import type { ProviderMisconfigured } from '../providers/reportingProvider.ts'
import type { Boss } from './boss.ts'
import type { CreationSettings } from './chargeCreation.ts'
import { idempotentReplies } from './idempotentReplies.ts'

/** What making a charge, and finishing a creation, needs, alike in the payments service and in the worker; `report` tells an operator. */
export function creationSettings(
  configuration: Configuration, database: Database, boss: Boss, runtime: Runtime, report: (problem: ProviderMisconfigured) => void,
): CreationSettings {
  return {
    database, boss, runtime,
    providers: paymentProviders(configuration, runtime, report),
    provider: providerName(configuration),
    callbackUrl: (provider) => `${configuration.PAYMENTS_URL}/v1/inbound/psp/${provider}/${configuration.SIMULATOR_CREDENTIAL_ID}`,
    replies: idempotentReplies(sealingKeys(configuration.SEALING_KEYS), runtime),
    views: { environment: configuration.BAYAR_ENV, baseUrl: configuration.PAYMENTS_URL },
  }
}
