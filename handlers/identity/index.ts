import bundle from '../../generated/identity.json' with { type: 'json' }
import { passwords } from '../../domain/passwords.ts'
import { sealingKeys } from '../../domain/sealing.ts'
import { accessTokensUnder } from '../http/accessTokens.ts'
import type { Guard } from '../http/exchange.ts'
import { handlersBelow } from '../http/handlerFiles.ts'
import { authenticate } from '../http/guards/authenticate.ts'
import { authorize } from '../http/guards/authorize.ts'
import { clientRateLimit, rateLimit } from '../http/guards/rateLimit.ts'
import { replay } from '../http/guards/replay.ts'
import { stepUp } from '../http/guards/stepUp.ts'
import { buildPipeline } from '../http/pipeline.ts'
import { validation } from '../http/validation.ts'
import { checksResponses } from '../service.ts'
import type { Service, ServiceParts } from '../service.ts'
import { reporter } from '../log.ts'
import type { IdentityApp } from './handler.ts'
import { signingKeys } from './signingKeys.ts'
import { tokenIssuer } from './tokenIssuer.ts'

/** Composes the identity service: its document, its guards in their one order, its handlers. */
export async function identityService(parts: ServiceParts): Promise<Service> {
  const { configuration, database, runtime, log, observe } = parts
  const sealing = sealingKeys(configuration.SEALING_KEYS)
  const app: IdentityApp = {
    configuration, sealing, passwords: passwords(runtime), signingKeys: signingKeys(sealing, runtime),
    issuer: tokenIssuer(configuration.TOKEN_ISSUER, runtime),
  }
  const handlers = { ...await handlersBelow(new URL('./', import.meta.url)), ...parts.overrides }
  const { express, contract } = await buildPipeline({
    document: 'identity', bundle, handlers, app, database, runtime, observe, guards: guards(parts, app.signingKeys),
    checkResponses: checksResponses(configuration), httpsOnly: configuration.TOKEN_ISSUER.startsWith('https:'),
    trustedProxies: configuration.TRUSTED_PROXIES, report: reporter(log),
  })
  return { name: 'identity', express, contract, endings: [] }
}

/** Both environments are served: no guard and no token is held to one (decision 5.2). Our own keys need no request. */
function guards(
  { configuration, database, runtime, elapsed = () => performance.now() }: ServiceParts, keys: IdentityApp['signingKeys'],
): Guard[] {
  const limits = { perCaller: configuration.RATE_LIMIT_PER_CALLER, perAddress: configuration.RATE_LIMIT_PER_ADDRESS }
  const rules = { issuer: configuration.TOKEN_ISSUER, environment: null }
  const tokens = accessTokensUnder(keys.verifying(database.query), rules, runtime)
  return [
    authenticate({ environment: null, tokens }),
    authorize(),
    stepUp(),
    rateLimit(limits, elapsed),
    validation(),
    clientRateLimit(limits, elapsed),
    replay(undefined, database),
  ]
}
