import bundle from '../../generated/payments.json' with { type: 'json' }
import { findLiveApiKey } from '../../db/payments/apiKeys.ts'
import type { Database } from '../../db/sql.ts'
import { sealingKeys } from '../../domain/sealing.ts'
import { startBoss } from '../../jobs/boss.ts'
import { creationSettings } from '../../jobs/creationSettings.ts'
import { promptCallbacks } from '../../jobs/promptCallbacks.ts'
import { brandLogosOf } from '../../providers/brandLogos.ts'
import { tenantDirectory } from '../../providers/tenantDirectory.ts'
import { webhookSenderOf } from '../../providers/webhookSender.ts'
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
import { callbackObserver, errorOf, reporter } from '../log.ts'
import { brands } from './brands.ts'
import { checkoutSandbox } from './checkoutSandbox.ts'
import type { PaymentsApp } from './handler.ts'
import { keyRequestRecorder } from './keyRequestRecorder.ts'
import { providerProof } from './providerProof.ts'

/** Composes the payments service: its document, its guards in their one order, its handlers. */
export async function paymentsService(parts: ServiceParts): Promise<Service> {
  const { configuration, database, runtime, log } = parts
  const sealing = sealingKeys(configuration.SEALING_KEYS)
  // Queues that are not there yet are no reason to end: the server waits for migrations.
  const boss = parts.boss ?? await startBoss(configuration.DATABASE_URL, {
    worker: false, awaitsQueues: true, log: (problem, level) => log[level === 'error' ? 'error' : 'warn']({ error: errorOf(problem) }, 'queue'),
  })
  const creation = creationSettings(configuration, database, boss, runtime, (problem) => log.error({ ...problem }, 'provider misconfigured'))
  const { providers, replies, views } = creation
  const tenants = tenantDirectory({
    identityUrl: configuration.IDENTITY_URL, clientId: configuration.IDENTITY_CLIENT_ID,
    clientSecret: configuration.IDENTITY_CLIENT_SECRET, environment: configuration.BAYAR_ENV,
  }, runtime)
  const webhooks = webhookSenderOf(configuration)
  const callbacks = promptCallbacks(creation, callbackObserver(log, parts.observeCallback))
  const app: PaymentsApp = { configuration, views, sealing, replies, providers, creation, callbacks, tenants, brands: brands(tenants, runtime), webhooks, isDraining: parts.isDraining }
  const handlers = { ...await handlersBelow(new URL('./', import.meta.url)), ...parts.overrides }
  const recorder = keyRequestRecorder(database, runtime, (error) => log.warn({ error: String(error) }, 'requests of API keys could not be recorded yet'))
  const observe: ServiceParts['observe'] = (observation) => {
    recorder.observe(observation)
    parts.observe(observation)
  }
  const logos = brandLogosOf(configuration, runtime)
  const httpsOnly = configuration.PAYMENTS_URL.startsWith('https:')
  const { express, contract } = await buildPipeline({
    document: 'payments', bundle, handlers, app, database, runtime, observe,
    guards: guards(parts, app), idempotency: replies,
    checkResponses: checksResponses(configuration), httpsOnly, ...(parts.pages && { pages: parts.pages({
      sandbox: checkoutSandbox(app), brandsUnderWay: () => app.brands.underWay(), logos, channelDisplayFile: configuration.CHANNEL_DISPLAY_FILE, httpsOnly, now: () => runtime.now(),
    }) }),
    trustedProxies: configuration.TRUSTED_PROXIES, report: reporter(log),
  })
  return { name: 'payments', express, contract, endings: [() => callbacks.stop(), () => recorder.stop(), () => boss.stop(), () => webhooks.close(), () => logos.close()] }
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
