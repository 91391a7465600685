import { randomBytes, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createLocalJWKSet, jwtVerify } from 'jose'
import type { JSONWebKeySet, JWTPayload, JWTVerifyResult } from 'jose'
import { Secret, TOTP } from 'otpauth'
import { afterAll, inject } from 'vitest'
import { callerOf } from '../../contract-tests/harness/call.ts'
import type { Caller } from '../../contract-tests/harness/call.ts'
import { testClock } from '../../contract-tests/harness/clock.ts'
import type { TestClock } from '../../contract-tests/harness/clock.ts'
import { insertUser } from '../../db/identity/users.ts'
import { putTotpDevice } from '../../db/identity/totpDevices.ts'
import { connect } from '../../db/sql.ts'
import type { Database, Row } from '../../db/sql.ts'
import { cloneDatabase } from '../../db/testDatabase.ts'
import { readConfiguration } from '../../domain/configuration.ts'
import { passwords } from '../../domain/passwords.ts'
import type { Runtime } from '../../domain/runtime.ts'
import { sealingKeys } from '../../domain/sealing.ts'
import type { SealingKeys } from '../../domain/sealing.ts'
import { totpSeedIdentity } from '../../domain/totp.ts'
import { seedIdentity } from '../../run/seedIdentity.ts'
import type { SeededIdentity } from '../../run/seedIdentity.ts'
import { createLog, requestLogger, secretNames } from '../log.ts'
import { identityService } from './index.ts'

export interface Account {
  id: string
  email: string
  password: string
  /** What the authenticator shows `steps` half minutes from now. */
  code(steps?: number): string
}

export interface IdentityBench extends Caller {
  /** The same service once more, as another process on the same database would be. */
  twin: Caller
  url: string
  issuer: string
  clock: TestClock
  database: Database
  /** The pool of the service, apart from that of the test. */
  serviceDatabase: Database
  sealing: SealingKeys
  runtime: Runtime
  merchantId: string
  seeded: SeededIdentity
  /** Lines that the service has logged. */
  logged: string[]
  /** A user of the demo tenant. */
  user(options?: { totp?: boolean, tenantId?: string }): Promise<Account>
  /** One of the seeded users. */
  person(name: keyof SeededIdentity['users']): Account
  /** Verifies a token by the key set fetched over HTTP. Throws what jose throws. */
  verified(token: string): Promise<JWTVerifyResult<JWTPayload>>
  /** A token of the client. */
  serviceToken(name: keyof SeededIdentity['clients']): Promise<string>
  rows(text: TemplateStringsArray, ...values: readonly string[]): Promise<Row[]>
}

/** Starts the identity service twice over HTTP on a seeded database of its own. Ends with the test file. */
export async function startIdentity(settings: Record<string, string> = {}): Promise<IdentityBench> {
  const clock = testClock()
  const clone = await cloneDatabase(inject('testServer'), 'template_identity')
  const [database, serviceDatabase, twinDatabase] = [connect(clone.url), connect(clone.url), connect(clone.url)]
  const runtime: Runtime = {
    now: () => clock.now(), randomBytes: (size) => randomBytes(size), sleep: async () => undefined,
    fetch: () => Promise.reject(new TypeError('identity asks nobody')),
  }
  const sealingSetting = `test:${randomBytes(32).toString('base64')}`
  const sealing = sealingKeys(sealingSetting)
  const merchantId = randomUUID()
  const seeded = await seedIdentity(database, {
    runtime, sealing, merchantId, hosts: ['shop.demo.example'], environment: 'sandbox', known: null,
  })
  const issuer = 'http://identity.test/v1'
  const configuration = readConfiguration('identity', {
    IDENTITY_DATABASE_URL: clone.url, SEALING_KEYS: sealingSetting, TOKEN_ISSUER: issuer,
    RATE_LIMIT_PER_CALLER: '100000', RATE_LIMIT_PER_ADDRESS: '100000', ...settings,
  })
  const logged: string[] = []
  const start = async (own: Database): Promise<{ url: string, caller: Caller }> => {
    const log = createLog('identity', { LOG_LEVEL: 'debug' }, { write: (line: string) => logged.push(line) })
    const requests: { log?: ReturnType<typeof requestLogger> } = {}
    const { express, contract } = await identityService({
      configuration, database: own, runtime, log, isDraining: () => false, elapsed: () => clock.now().getTime(),
      observe: (observation) => requests.log?.(observation),
    })
    requests.log = requestLogger(log, secretNames(contract.api.inputDocument))
    const server = createServer(express)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    afterAll(() => server.close().closeAllConnections())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return { url, caller: callerOf([{ url, contract }]) }
  }
  const [first, second] = [await start(serviceDatabase), await start(twinDatabase)]
  afterAll(async () => {
    await Promise.all([database, serviceDatabase, twinDatabase].map((each) => each.end(100)))
    await clone.drop()
  })
  const codeOf = (secret: string) => (steps = 0) =>
    new TOTP({ secret }).generate({ timestamp: clock.now().getTime() + steps * 30_000 })
  const hashing = passwords(runtime)
  return {
    ...first.caller, twin: second.caller, url: first.url,
    issuer, clock, database, serviceDatabase, sealing, runtime, merchantId, seeded, logged,
    async user({ totp = false, tenantId = seeded.tenant_id } = {}) {
      const [id, password, secret] = [randomUUID(), randomBytes(12).toString('base64url'), new Secret()]
      const email = `user-${id}@demo.example`
      const passwordHash = await hashing.hash(password)
      await database.query((sql) => insertUser(sql, { id, tenantId, email, passwordHash }, clock.now()))
      const sealed = sealing.seal(Buffer.from(secret.bytes), totpSeedIdentity(id), randomBytes(12))
      if (totp) await database.query((sql) => putTotpDevice(sql, id, sealed, clock.now()))
      return { id, email, password, code: codeOf(secret.base32) }
    },
    person(name) {
      const { id, email, password, totp_secret } = seeded.users[name]
      return { id, email, password, code: codeOf(totp_secret) }
    },
    async verified(token) {
      const answer = await first.caller.call('getJwks')
      if (answer.status !== 200) throw new Error(`getJwks answered ${answer.status}`)
      return jwtVerify(token, createLocalJWKSet(answer.body as JSONWebKeySet), {
        issuer, audience: 'bayar', typ: 'at+jwt', algorithms: ['ES256'], currentDate: clock.now(),
      })
    },
    async serviceToken(name) {
      const body = { grant_type: 'client_credentials' as const, ...seeded.clients[name] }
      const answer = await first.caller.call('issueServiceToken', { body })
      if (answer.status !== 200) throw new Error(`issueServiceToken answered ${answer.status}`)
      return answer.body.access_token
    },
    rows: (text, ...values) => database.query((sql) => sql(text, ...values)),
  }
}
