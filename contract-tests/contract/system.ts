import { randomBytes, randomUUID } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addRoleBinding } from '../../db/identity/roleBindings.ts'
import { putTotpDevice } from '../../db/identity/totpDevices.ts'
import { insertUser } from '../../db/identity/users.ts'
import { ensureDatabase } from '../../db/migrate.ts'
import { connect } from '../../db/sql.ts'
import type { Database } from '../../db/sql.ts'
import { startTestServer } from '../../db/testDatabase.ts'
import { passwords } from '../../domain/passwords.ts'
import { systemRuntime } from '../../domain/runtime.ts'
import { sealingKeys, sealingNonceBytes } from '../../domain/sealing.ts'
import { newTotpSeed, totpSecretText, totpSeedIdentity } from '../../domain/totp.ts'
import { DevelopmentRun } from '../../run/developmentRun.ts'
import { loadSecrets } from '../../run/secrets.ts'
import type { Account } from '../../run/signIn.ts'
import { settlingIn } from '../harness/settled.ts'
import type { Settled } from '../harness/settled.ts'
import { simulatorControl } from '../harness/simulatorControl.ts'
import type { SimulatorControl } from '../harness/simulatorControl.ts'
import { openReceiver } from '../harness/tlsReceiver.ts'
import type { Receiver } from '../harness/tlsReceiver.ts'

/** The whole system, running as `make run` starts it. */
export interface RunningSystem {
  urls: { payments: string, storefront: string, identity: string }
  tenantId: string
  merchantId: string
  apiKey: string
  /** The client that payments is at identity. */
  serviceClient: { client_id: string, client_secret: string }
  /** What the simulator signs its callbacks with. */
  callbacks: { credentialId: string, secret: string }
  simulator: SimulatorControl
  simulatorApiKey: string
  /** Waits until every callback is processed. */
  settled: Settled
  /** A fresh owner of the merchant, with TOTP: a code works once, so every journey signs in as another. */
  newOwner(): Promise<Account>
  /** As `newOwner`, of the whole tenant. */
  newAdministrator(): Promise<Account>
  /** Takes webhooks; its certificate is trusted. */
  receiver: Receiver
  stop(): Promise<void>
}

const databases = ['bayar_sandbox', 'bayar_identity'] as const

/** Starts PostgreSQL, seeds, and starts every process on free ports. */
export async function startSystem(say: (line: string) => void): Promise<RunningSystem> {
  const server = await startTestServer()
  const directory = join(tmpdir(), `bayar-contract-${randomBytes(6).toString('hex')}`)
  mkdirSync(directory)
  const receiver = await openReceiver()
  const authority = join(directory, 'receiver.pem')
  writeFileSync(authority, receiver.certificate)
  const [main, identity] = databases.map((name) => Object.assign(new URL(server.info.url), { pathname: `/${name}` }).href) as [string, string]
  await Promise.all(databases.map((name) => ensureDatabase(server.info.url, name)))
  const run = new DevelopmentRun({
    directory, say, keepsFailedStarts: false,
    environment: {
      PATH: process.env.PATH, DATABASE_URL: main, IDENTITY_DATABASE_URL: identity, LOG_LEVEL: 'error',
      RATE_LIMIT_PER_CALLER: '100000', RATE_LIMIT_PER_ADDRESS: '100000',
      WEBHOOK_ALLOW_PRIVATE: 'on', WEBHOOK_CA_FILE: authority,
    },
  })
  const killNow = (): void => run.killNow()
  process.once('exit', killNow)
  const [people, money] = [identity, main].map((url) => connect(url, { max: 1, applicationName: 'bayar contract' })) as [Database, Database]
  const stop = async (): Promise<void> => {
    await Promise.all([people.end(), money.end()])
    await run.stop()
    await server.stop()
    receiver.close()
    process.off('exit', killNow)
    rmSync(directory, { recursive: true, force: true })
  }
  run.failed.catch(() => undefined)
  try {
    await run.start()
  } catch (error) {
    await stop()
    throw error
  }
  const { payments_url, storefront_url, identity_url, simulator_url, tenant_id: tenantId, merchant_id: merchantId, api_key: apiKey } = run.credentials
  const secrets = loadSecrets(join(directory, 'secrets.json'), systemRuntime)
  if (!secrets.identity) throw new Error('the demo data names no clients')
  const password = randomBytes(18).toString('base64url')
  const passwordHash = await passwords(systemRuntime).hash(password)
  const sealing = sealingKeys(secrets.sealing_keys)
  const newPerson = async (role: string, scope: string): Promise<Account> => {
    const [id, seed, now] = [randomUUID(), newTotpSeed(systemRuntime), new Date()]
    const email = `person-${id}@demo.example`
    await people.tx(async (sql) => {
      await insertUser(sql, { id, tenantId, email, passwordHash }, now)
      await putTotpDevice(sql, id, sealing.seal(seed, totpSeedIdentity(id), randomBytes(sealingNonceBytes)), now)
      await addRoleBinding(sql, { id: randomUUID(), tenantId, userId: id, role, scope }, now)
    })
    return { email, password, totpSecret: totpSecretText(seed) }
  }
  return {
    urls: { payments: payments_url, storefront: storefront_url, identity: identity_url }, tenantId, merchantId, apiKey, receiver, stop,
    serviceClient: secrets.identity.clients.payments,
    callbacks: { credentialId: secrets.simulator.credential_id, secret: secrets.simulator.callback_secret },
    simulator: simulatorControl(simulator_url, secrets.simulator.api_key),
    simulatorApiKey: secrets.simulator.api_key, settled: settlingIn(money),
    newOwner: () => newPerson('merchant_owner', `merchant:${merchantId}`),
    newAdministrator: () => newPerson('tenant_admin', '*'),
  }
}
