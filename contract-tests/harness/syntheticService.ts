import { randomBytes, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, inject } from 'vitest'
import { connect } from '../../db/sql.ts'
import type { Database } from '../../db/sql.ts'
import { cloneDatabase } from '../../db/testDatabase.ts'
import { digestOfApiKey, formatApiKey, prefixOfApiKey } from '../../domain/apiKeys.ts'
import type { Environment } from '../../domain/apiKeys.ts'
import type { Runtime } from '../../domain/runtime.ts'
import { sealingKeys } from '../../domain/sealing.ts'
import { accessTokens } from '../../handlers/http/accessTokens.ts'
import type { Caller } from '../../handlers/http/caller.ts'
import type { Exchange, Guard, Site } from '../../handlers/http/exchange.ts'
import { authenticate } from '../../handlers/http/guards/authenticate.ts'
import type { Verifiers } from '../../handlers/http/guards/authenticate.ts'
import { authorize } from '../../handlers/http/guards/authorize.ts'
import { environment } from '../../handlers/http/guards/environment.ts'
import { module } from '../../handlers/http/guards/module.ts'
import { clientRateLimit, rateLimit } from '../../handlers/http/guards/rateLimit.ts'
import type { RateLimits } from '../../handlers/http/guards/rateLimit.ts'
import { replay } from '../../handlers/http/guards/replay.ts'
import { stepUp } from '../../handlers/http/guards/stepUp.ts'
import { captcha, feature, host, openShop } from '../../handlers/http/guards/storefront.ts'
import type { SiteQuestions } from '../../handlers/http/guards/storefront.ts'
import type { AnyHandler } from '../../handlers/http/handler.ts'
import type { IdempotencyStore } from '../../handlers/http/idempotency.ts'
import type { Observation } from '../../handlers/http/pipeline.ts'
import { buildPipeline } from '../../handlers/http/pipeline.ts'
import { readBody } from '../../handlers/http/requestBody.ts'
import { validation } from '../../handlers/http/validation.ts'
import { idempotentReplies } from '../../jobs/idempotentReplies.ts'
import { ask } from './ask.ts'
import type { Asked, Heard } from './ask.ts'
import { testClock } from './clock.ts'
import type { TestClock } from './clock.ts'
import { testIssuer } from './issuer.ts'
import type { TestIssuer } from './issuer.ts'
import { everyRule, syntheticDocument } from './syntheticDocument.ts'
import type { SyntheticOperation } from './syntheticDocument.ts'

/** What the world answers the guards with; tests change it between requests. */
export interface World {
  sites: Map<string, Site>
  features: Set<string>
  isOpen: boolean
  /** Solutions that still count; each counts once. */
  solutions: Set<string>
  sessions: Map<string, string>
  modules: Set<string>
  /** Live API keys by hexadecimal digest. */
  keys: Map<string, Caller>
  /** Milliseconds on the clock of the rate limits. */
  time: number
}

export interface SyntheticOptions {
  operations?: readonly SyntheticOperation[]
  environment?: Environment
  limits?: RateLimits
  trustedProxies?: readonly string[]
  httpsOnly?: boolean
  checkResponses?: boolean
  handlers?: Record<string, AnyHandler>
  /** Stands in for the database. */
  database?: Database
}

export interface SyntheticBench {
  url: string
  ask(path: string, asked?: Asked): Promise<Heard>
  world: World
  clock: TestClock
  issuer: TestIssuer
  database: Database
  /** Host, tenant and store of the one storefront. */
  site: Site
  /** Token of the storefront's backend. */
  bff: string
  /** Header that a shopper's request carries. */
  session: string
  apiKey(
    scopes: readonly string[],
    options?: { tenantId?: string; merchantId?: string; environment?: Environment },
  ): string
  reported: unknown[]
  observed: Observation[]
}

export const bffSubject = 'storefront-backend'
/** What a provider signs with in the synthetic service. */
export const providerSignature = 'signed'

/** Every guard that there is, in the written order. */
export function everyGuard(
  verifiers: Verifiers,
  world: World,
  store: IdempotencyStore | undefined,
  database: Database,
  limits: RateLimits,
): Guard[] {
  const questions = questionsOf(world)
  return [
    host(questions),
    environment(verifiers.environment ?? 'sandbox'),
    authenticate(verifiers),
    module(async () => [...world.modules]),
    authorize(),
    stepUp(),
    rateLimit(limits, () => world.time),
    validation(),
    clientRateLimit(limits, () => world.time),
    replay(store, database),
    feature(questions),
    openShop(questions),
    captcha(questions),
  ]
}

/** Starts the pipeline over a synthetic document on a port of its own, with every guard. Ends with the test file. */
export async function startSynthetic(options: SyntheticOptions = {}): Promise<SyntheticBench> {
  const {
    operations = everyRule,
    environment: present = 'sandbox',
    limits = { perCaller: 100_000, perAddress: 100_000 },
  } = options
  const clock = testClock()
  const issuer = await testIssuer(clock)
  const site = { tenantId: randomUUID(), storeId: randomUUID(), host: 'toko.shop.test' }
  const world: World = {
    sites: new Map([[site.host, site]]),
    features: new Set(['buyer_accounts', 'promos', 'reviews']),
    isOpen: true,
    solutions: new Set(),
    sessions: new Map([['session-of-a-shopper', randomUUID()]]),
    modules: new Set(),
    keys: new Map(),
    time: 0,
  }
  const runtime: Runtime = {
    now: clock.now,
    randomBytes: (size) => randomBytes(size),
    fetch: async () => Response.json(issuer.jwks()),
    sleep: async () => undefined,
  }
  const database = options.database ?? lazyDatabase()
  const store = idempotentReplies(sealingKeys(`test:${randomBytes(32).toString('base64')}`), runtime)
  const verifiers = verifiersOf(
    world,
    present,
    accessTokens({ issuer: issuer.issuer, jwksUrl: issuer.jwksUrl, environment: present }, runtime),
  )
  const reported: unknown[] = []
  const observed: Observation[] = []
  const { express } = await buildPipeline({
    document: 'synthetic',
    bundle: syntheticDocument(operations),
    app: {},
    database,
    runtime,
    idempotency: store,
    guards: everyGuard(verifiers, world, store, database, limits),
    handlers: { ...Object.fromEntries(operations.map(({ id }) => [id, echo])), ...options.handlers },
    checkResponses: options.checkResponses ?? true,
    httpsOnly: options.httpsOnly ?? false,
    trustedProxies: options.trustedProxies ?? [],
    observe: (observation) => observed.push(observation),
    report: (error) => reported.push(error),
  })
  const server = createServer(express)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterAll(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await database.end()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    world,
    clock,
    issuer,
    database,
    site,
    reported,
    observed,
    session: 'session-of-a-shopper',
    ask: (path, asked) => ask(url, path, asked),
    bff: await issuer.token({
      subject: bffSubject,
      permissions: [],
      audience: 'storefront',
      tenantId: null,
      environment: present,
    }),
    apiKey(scopes, { tenantId = randomUUID(), merchantId = randomUUID(), environment: of = present } = {}) {
      const key = formatApiKey(of, randomBytes(32))
      world.keys.set(digestOfApiKey(key).toString('hex'), {
        kind: 'api_key',
        id: randomUUID(),
        tenantId,
        merchantId,
        scopes,
        prefix: prefixOfApiKey(key),
        createdBy: 'user:test',
      })
      return key
    },
  }
}

/** A clone with a table of its own, made when it is first asked: most tests of guards never get so far. */
function lazyDatabase(): Database {
  let opened: Promise<{ database: Database; drop(): Promise<void> }> | undefined
  const open = async () => {
    const clone = await cloneDatabase(inject('testServer'), 'template_main')
    const database = connect(clone.url, { max: 10 })
    await database.query(
      (sql) => sql`create table payments.things (id bigint generated always as identity, name text not null)`,
    )
    return { database, drop: () => clone.drop() }
  }
  const at = async () => (await (opened ??= open())).database
  return {
    query: async (work) => (await at()).query(work),
    tx: async (work) => (await at()).tx(work),
    readTx: async (work) => (await at()).readTx(work),
    stats: () => ({ max: 0, busy: 0, waiting: 0, poolsReplaced: 0 }),
    async end() {
      if (!opened) return
      const { database, drop } = await opened
      await database.end()
      await drop()
    },
  }
}

function verifiersOf(world: World, present: Environment, tokens: Verifiers['tokens']): Verifiers {
  return {
    environment: present,
    ...(tokens && { tokens }),
    bffSubjects: [bffSubject],
    apiKey: async (digest) => world.keys.get(digest.toString('hex')) ?? null,
    shopper: async (token, { storeId }) => {
      const id = world.sessions.get(token)
      return id === undefined ? null : { kind: 'shopper', id, siteId: storeId }
    },
    provider: async (exchange: Exchange) => {
      await readBody(exchange)
      return exchange.header('x-signature') === providerSignature
        ? { kind: 'provider', credentialId: randomUUID(), provider: 'synthetic' }
        : null
    },
    signedLink: async ({ request }) => request.params.code === 'signed',
  }
}

function questionsOf(world: World): SiteQuestions {
  return {
    siteAt: async (name) => world.sites.get(name) ?? null,
    featureOn: async (_, name) => world.features.has(name),
    isOpen: async () => world.isOpen,
    captchaSolved: async (token) => {
      if (token === 'broken') throw new Error('the challenge store is away')
      return world.solutions.delete(token)
    },
  }
}

/** Tells the test what the pipeline made of the request. */
const echo = (async (context: {
  caller: Caller
  reach: unknown
  site: Site | undefined
  params: unknown
  query: unknown
  body: unknown
  rawBody: Buffer | undefined
  address: string
  reply(status: number, body: unknown): never
}) =>
  context.reply(200, {
    caller: context.caller,
    reach: context.reach ?? null,
    site: context.site ?? null,
    params: context.params,
    query: { ...(context.query as object) },
    body: context.body ?? null,
    bytes: context.rawBody?.toString('latin1') ?? null,
    address: context.address,
  })) as unknown as AnyHandler
