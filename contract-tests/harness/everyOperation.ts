import { randomBytes, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, inject } from 'vitest'
import { insertFirstSigningKey } from '../../db/identity/signingKeys.ts'
import { connect } from '../../db/sql.ts'
import type { Database } from '../../db/sql.ts'
import { cloneDatabase } from '../../db/testDatabase.ts'
import { readConfiguration } from '../../domain/configuration.ts'
import type { Runtime } from '../../domain/runtime.ts'
import { sealingKeys } from '../../domain/sealing.ts'
import identityBundle from '../../generated/identity.json' with { type: 'json' }
import paymentsBundle from '../../generated/payments.json' with { type: 'json' }
import { roles } from '../../generated/roles.ts'
import storefrontBundle from '../../generated/storefront.json' with { type: 'json' }
import type { AnyHandler } from '../../handlers/http/handler.ts'
import type { Operation, Parameter } from '../../handlers/http/operation.ts'
import { identityService } from '../../handlers/identity/index.ts'
import { createLog } from '../../handlers/log.ts'
import type { Service, ServiceParts } from '../../handlers/service.ts'
import { storefrontService } from '../../handlers/storefront/index.ts'
import { signCallback } from '../../providers/callbackSignature.ts'
import { callerOf } from './call.ts'
import type { Caller, Operations, RawAnswer, RawOptions } from './call.ts'
import type { TestClock } from './clock.ts'
import type { TestIssuer, TokenClaims } from './issuer.ts'
import { freePort, startPayments } from './payments.ts'
import type { PaymentsBench } from './payments.ts'

export interface EveryOptions {
  settings?: Record<string, string>
  /** Stands in for every handler. */
  handler?: AnyHandler
  /** Every service's database is a port where nobody listens. */
  databaseAway?: boolean
}

export interface ServiceUnderTest extends Caller {
  name: Service['name']
  url: string
  operations: ReadonlyMap<string, Operation>
  logged: string[]
}

export interface EveryOperation {
  of(id: string): { operation: Operation; service: ServiceUnderTest }
  /** A request that every guard of the operation lets through; whatever its handler then says. */
  accepted(id: string): Promise<RawOptions>
  issuer: TestIssuer
  clock: TestClock
  payments: PaymentsBench
}

interface Bundle {
  paths: Record<string, Record<string, { operationId?: string }>>
}

/** Ids of the operations of all documents. */
export const operationIds = [paymentsBundle, storefrontBundle, identityBundle].flatMap((bundle) =>
  Object.values((bundle as unknown as Bundle).paths).flatMap((item) =>
    Object.values(item).map(({ operationId = '' }) => operationId),
  ),
)

/** Starts all services over HTTP, trusting one test issuer. Ends with the test file. */
export async function startEveryService(options: EveryOptions = {}): Promise<EveryOperation> {
  const database = options.databaseAway ? connect(`postgres://nobody@127.0.0.1:${await freePort()}/nothing`) : undefined
  const overrides = (bundle: unknown) =>
    options.handler && Object.fromEntries(idsOf(bundle).map((id) => [id, options.handler as AnyHandler]))
  const payments = await startPayments({
    ...(options.settings && { settings: options.settings }),
    ...(options.handler && { overrides: overrides(paymentsBundle) ?? {} }),
    ...(database && { database }),
  })
  const { issuer, clock } = payments
  const parts = { options, issuer, clock, away: database }
  const services: ServiceUnderTest[] = [
    {
      name: 'payments',
      url: payments.url,
      call: payments.call,
      send: payments.send,
      operations: byId(payments.service),
      logged: payments.logged,
    },
    await start(parts, 'template_main', 'storefront', storefrontService, overrides(storefrontBundle)),
    await start(parts, 'template_identity', 'identity', identityService, overrides(identityBundle)),
  ]
  const of = (id: string) => {
    for (const service of services) {
      const operation = service.operations.get(id)
      if (operation) return { operation, service }
    }
    throw new Error(`no service under test has the operation ${id}`)
  }
  const merchant = await payments.given.merchant()
  return {
    of,
    issuer,
    clock,
    payments,
    async accepted(id) {
      const { operation } = of(id)
      const { kind, scope } = operation.caller
      const request = requestOf(operation)
      if (kind === 'merchant' || kind === 'credential')
        return { ...request, as: await payments.given.apiKey(merchant, scope ? { scopes: scope } : {}) }
      if (kind === 'public') return request
      if (kind === 'provider') return signed(request, payments)
      if (kind === 'bff' || kind === 'shopper' || kind === 'signed-link')
        throw new Error(`${id}: the harness has no credential for ${kind}`)
      return { ...request, as: await issuer.token(claimsFor(operation)) }
    },
  }
}

interface Parts {
  options: EveryOptions
  issuer: TestIssuer
  clock: TestClock
  away: Database | undefined
}

async function start(
  { options, issuer, clock, away }: Parts,
  template: string,
  name: 'storefront' | 'identity',
  compose: (parts: ServiceParts) => Promise<Service>,
  overrides: Record<string, AnyHandler> | undefined,
): Promise<ServiceUnderTest> {
  const clone = await cloneDatabase(inject('testServer'), template)
  const database = connect(clone.url)
  const sealing = `test:${randomBytes(32).toString('base64')}`
  const runtime: Runtime = {
    now: clock.now,
    randomBytes: (size) => randomBytes(size),
    fetch: async () => Response.json(issuer.jwks()),
    sleep: async () => undefined,
  }
  if (name === 'identity') await trust(database, issuer, sealing, clock)
  const configuration = readConfiguration(name, {
    DATABASE_URL: clone.url,
    IDENTITY_DATABASE_URL: clone.url,
    SEALING_KEYS: sealing,
    TOKEN_ISSUER: issuer.issuer,
    TOKEN_JWKS_URL: issuer.jwksUrl,
    RATE_LIMIT_PER_CALLER: '100000',
    RATE_LIMIT_PER_ADDRESS: '100000',
    ...options.settings,
  })
  const logged: string[] = []
  const log = createLog(name, { LOG_LEVEL: 'debug' }, { write: (line: string) => logged.push(line) })
  const service = await compose({
    configuration,
    database: away ?? database,
    runtime,
    log,
    observe: () => undefined,
    isDraining: () => false,
    elapsed: () => clock.now().getTime(),
    ...(overrides && { overrides }),
  })
  const server = createServer({ keepAliveTimeout: 65_000 }, service.express)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterAll(async () => {
    server.close().closeAllConnections()
    await database.end(100)
    await clone.drop()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { name, url, ...callerOf([{ url, contract: service.contract }]), operations: byId(service), logged }
}

/** Makes the test issuer's key one of identity's own: its private half is never asked for. */
async function trust(database: Database, issuer: TestIssuer, sealing: string, clock: TestClock): Promise<void> {
  const [jwk] = issuer.jwks().keys
  const { kid = '', x = '', y = '' } = jwk ?? {}
  await database.query((sql) =>
    insertFirstSigningKey(
      sql,
      {
        id: kid,
        public_jwk: { kty: 'EC', crv: 'P-256', x, y, kid, use: 'sig', alg: 'ES256' },
        private_key: sealingKeys(sealing).seal(randomBytes(32), kid, randomBytes(12)),
      },
      clock.now(),
    ),
  )
}

function byId({ contract }: Service): ReadonlyMap<string, Operation> {
  return new Map(contract.operations.map((operation) => [operation.id, operation]))
}

function idsOf(bundle: unknown): string[] {
  return Object.values((bundle as Bundle).paths).flatMap((item) =>
    Object.values(item).map(({ operationId = '' }) => operationId),
  )
}

/** The request that the document itself shows. */
function requestOf(operation: Operation): RawOptions {
  const shown = (keep: (parameter: Parameter) => boolean) =>
    Object.fromEntries(
      operation.parameters
        .filter(keep)
        .map((parameter) => [parameter.name, String((parameter as { example?: unknown }).example ?? randomUUID())]),
    )
  const params = shown(({ in: place }) => place === 'path')
  const query = shown(({ in: place, required }) => place === 'query' && required === true)
  if (operation.body === 'none') return { params, query }
  const [type = 'application/json'] = operation.consumes
  return { params, query, headers: { 'Content-Type': type }, body: JSON.stringify(exampleBody(operation)) }
}

function exampleBody({ source }: Operation): unknown {
  const { content = {} } = (source.requestBody ?? {}) as {
    content?: Record<string, { example?: unknown; examples?: Record<string, { value: unknown }> }>
  }
  const media = content['application/json'] ?? Object.values(content)[0]
  return media?.example ?? Object.values(media?.examples ?? {})[0]?.value ?? {}
}

function signed(request: RawOptions, { clock, credential }: PaymentsBench): RawOptions {
  const body = typeof request.body === 'string' ? request.body : '{}'
  return {
    ...request,
    body,
    params: { provider: 'simulator', credentialId: credential.id },
    headers: {
      ...request.headers,
      'X-Simulator-Signature': signCallback(credential.secret, Buffer.from(body), clock.now()),
    },
  }
}

/** What a token of the operation's caller says, with `claims` changed. */
export function claimsFor(
  { caller: { kind, permission, scope }, rules }: Operation,
  claims: TokenClaims = {},
): TokenClaims {
  const held = permission ?? scope?.[0]
  if (kind === 'service') return { permissions: [permission ?? ''], tenantId: null, ...claims }
  const role = Object.entries(roles).find(
    ([, { permissions }]) => held === undefined || (permissions as readonly string[]).includes(held),
  )?.[0]
  if (role === undefined) throw new Error(`no role has the permission ${held}`)
  return {
    bindings: [{ role, scope: '*' }],
    platform: kind === 'admin',
    ...(rules.has('x-step-up') && { stepUpAge: 0 }),
    ...claims,
  }
}

/** Sends the accepted request with `change` made to it. The answer is checked against the document and recorded. */
export async function sendAccepted(
  every: EveryOperation,
  id: string,
  change: (request: RawOptions) => Partial<RawOptions> = () => ({}),
): Promise<RawAnswer> {
  const request = await every.accepted(id)
  const changed = { ...request, ...change(request) }
  return every
    .of(id)
    .service.send(asId(id), {
      ...changed,
      query: { ...request.query, ...changed.query },
      headers: { ...request.headers, ...changed.headers },
    })
}

/** For loops over operations known by their text. */
export function asId(id: string): keyof Operations {
  return id as keyof Operations
}
