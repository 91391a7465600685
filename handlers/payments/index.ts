import bundle from '../../generated/payments.json' with { type: 'json' }
import { findLiveApiKey } from '../../db/payments/apiKeys.ts'
import type { Database } from '../../db/sql.ts'
import { sealingKeys } from '../../domain/sealing.ts'
import { creationSettings } from '../../jobs/creationSettings.ts'
import { tenantDirectory } from '../../providers/tenantDirectory.ts'
import { accessTokens } from '../http/accessTokens.ts'
import type { Caller } from '../http/caller.ts'
import type { Guard } from '../http/exchange.ts'
import { handlersBelow } from '../http/handlerFiles.ts'
import { authenticate } from '../http/guards/authenticate.ts'
import { authorize } from '../http/guards/authorize.ts'
import { environment } from '../http/guards/environment.ts'
import { module } from '../http/guards/module.ts'
import { clientRateLimit, rateLimit } from '../http/guards/rateLimit.ts'
import { replay } from '../http/guards/replay.ts'
import { stepUp } from '../http/guards/stepUp.ts'
import { buildPipeline } from '../http/pipeline.ts'
import { validation } from '../http/validation.ts'
import { checksResponses } from '../service.ts'
import type { Service, ServiceParts } from '../service.ts'
import { reporter } from '../log.ts'
import type { PaymentsApp } from './handler.ts'
import { providerProof } from './providerProof.ts'

/** Composes the payments service: its document, its guards in their one order, its handlers. */
export async function paymentsService(parts: ServiceParts): Promise<Service> {
  const { configuration, database, runtime, log, observe } = parts
  const sealing = sealingKeys(configuration.SEALING_KEYS)
  const creation = creationSettings(configuration, database, runtime)
  const { providers, replies, views } = creation
  const tenants = tenantDirectory({
    identityUrl: configuration.IDENTITY_URL, clientId: configuration.IDENTITY_CLIENT_ID,
    clientSecret: configuration.IDENTITY_CLIENT_SECRET, environment: configuration.BAYAR_ENV,
  }, runtime)
  const app: PaymentsApp = { configuration, views, sealing, replies, providers, creation, tenants, isDraining: parts.isDraining }
  const handlers = { ...await handlersBelow(new URL('./', import.meta.url)), ...parts.overrides }
  const { express, contract } = await buildPipeline({
    document: 'payments', bundle, handlers, app, database, runtime, observe,
    guards: guards(parts, app), idempotency: replies,
    checkResponses: checksResponses(configuration), httpsOnly: configuration.PAYMENTS_URL.startsWith('https:'),
    trustedProxies: configuration.TRUSTED_PROXIES, report: reporter(log),
  })
  return { name: 'payments', express, contract }
}

/** The order in which a request is refused (decision 5.2): credential, permission, and only then anything about the request. */
function guards(
  { configuration, database, runtime, elapsed = () => performance.now() }: ServiceParts,
  { sealing, providers, tenants, replies }: PaymentsApp,
): Guard[] {
  const limits = { perCaller: configuration.RATE_LIMIT_PER_CALLER, perAddress: configuration.RATE_LIMIT_PER_ADDRESS }
  const tokens = accessTokens({
    issuer: configuration.TOKEN_ISSUER, jwksUrl: configuration.TOKEN_JWKS_URL, environment: configuration.BAYAR_ENV,
  }, runtime)
  return [
    environment(configuration.BAYAR_ENV),
    authenticate({
      environment: configuration.BAYAR_ENV, tokens, apiKey: apiKeyLookup(database),
      provider: providerProof(database, sealing, providers),
    }),
    module(async (tenantId) => (await tenants.find(tenantId))?.modules ?? []),
    authorize(),
    stepUp(),
    rateLimit(limits, elapsed),
    validation(),
    clientRateLimit(limits, elapsed),
    replay(replies, database),
  ]
}

function apiKeyLookup(database: Database) {
  return async (digest: Buffer, now: Date): Promise<Caller | null> => {
    const key = await database.query((sql) => findLiveApiKey(sql, digest, now))
    return key ? {
      kind: 'api_key', id: key.id, tenantId: key.tenant_id, merchantId: key.merchant_id, scopes: key.scopes, prefix: key.prefix, createdBy: key.created_by,
    } : null
  }
}
