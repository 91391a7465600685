import bundle from '../../generated/storefront.json' with { type: 'json' }
import type { Guard } from '../http/exchange.ts'
import { handlersBelow } from '../http/handlerFiles.ts'
import { authenticate } from '../http/guards/authenticate.ts'
import { authorize } from '../http/guards/authorize.ts'
import { environment } from '../http/guards/environment.ts'
import { clientRateLimit, rateLimit } from '../http/guards/rateLimit.ts'
import { replay } from '../http/guards/replay.ts'
import { stepUp } from '../http/guards/stepUp.ts'
import { buildPipeline } from '../http/pipeline.ts'
import { validation } from '../http/validation.ts'
import { checksResponses } from '../service.ts'
import type { Service, ServiceParts } from '../service.ts'
import { reporter } from '../log.ts'
import type { StorefrontApp } from './handler.ts'

/** Composes the storefront service: its document, its guards in their one order, its handlers. */
export async function storefrontService(parts: ServiceParts): Promise<Service> {
  const { configuration, database, runtime, log, observe } = parts
  const app: StorefrontApp = { isDraining: parts.isDraining }
  const handlers = { ...await handlersBelow(new URL('./', import.meta.url)), ...parts.overrides }
  const { express, contract } = await buildPipeline({
    document: 'storefront', bundle, handlers, app, database, runtime, observe, guards: guards(parts),
    // The shops have no one address; the installation's own says whether it is reached by https.
    checkResponses: checksResponses(configuration), httpsOnly: configuration.PAYMENTS_URL.startsWith('https:'),
    trustedProxies: configuration.TRUSTED_PROXIES, report: reporter(log),
  })
  return { name: 'storefront', express, contract, endings: [] }
}

/** The order in which a request is refused (decision 5.2). */
function guards({ configuration, database, elapsed = () => performance.now() }: ServiceParts): Guard[] {
  const limits = { perCaller: configuration.RATE_LIMIT_PER_CALLER, perAddress: configuration.RATE_LIMIT_PER_ADDRESS }
  return [
    environment(configuration.BAYAR_ENV),
    authenticate({ environment: configuration.BAYAR_ENV }),
    authorize(),
    stepUp(),
    rateLimit(limits, elapsed),
    validation(),
    clientRateLimit(limits, elapsed),
    replay(undefined, database),
  ]
}
