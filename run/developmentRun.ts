import { mkdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { connect } from '../db/sql.ts'
import { readConfiguration } from '../domain/configuration.ts'
import { systemRuntime } from '../domain/runtime.ts'
import { sealingKeys } from '../domain/sealing.ts'
import { credentialsFile, keptTokens, tokenHolders, writeCredentials } from './credentials.ts'
import type { Credentials, TokenHolderName } from './credentials.ts'
import { migrateDatabases, openDatabases } from './databases.ts'
import type { Databases } from './databases.ts'
import { receiverFiles } from './inbox/certificate.ts'
import { seedInbox } from './inbox/seedInbox.ts'
import { followLog, notable } from './logFollower.ts'
import { addressesOn, copiesOf, issuerOn, plansOf, receiverOn } from './plan.ts'
import type { Addresses, RunParts, RunProcess } from './plan.ts'
import { claimPorts } from './ports.ts'
import { lockRun } from './runLock.ts'
import { loadSecrets, saveSecrets } from './secrets.ts'
import type { DevelopmentSecrets } from './secrets.ts'
import { seedIdentity } from './seedIdentity.ts'
import type { SeededIdentity } from './seedIdentity.ts'
import { seedPayments } from './seedPayments.ts'
import { logIn, signInClient } from './signIn.ts'
import { supervise } from './supervisor.ts'
import type { ChildPlan, SupervisedChild } from './supervisor.ts'
import { keepTokens } from './tokens.ts'
import type { TokenHolder, TokenKeeper } from './tokens.ts'

export interface DevelopmentRunOptions {
  /** Folder of what is kept between runs. */
  directory: string
  environment: Readonly<Record<string, string | undefined>>
  say(line: string): void
  /** True: a process that cannot start waits for its next restart instead of ending the run. */
  keepsFailedStarts: boolean
}

const names = ['simulator', 'inbox', 'identity', 'payments', 'storefront', 'worker'] as const satisfies readonly RunProcess[]
/** Browsers and curl take every name below localhost for this machine. */
const storefrontHost = 'demo.localhost'
/** Callers before what they call, so that nobody's last request fails. */
const stopOrder: readonly (readonly RunProcess[])[] = [['worker', 'payments', 'storefront'], ['identity'], ['simulator', 'inbox']]

/** The whole system on this machine: database, seed, processes, tokens. */
export class DevelopmentRun {
  /** Rejects when the run cannot go on. */
  readonly failed: Promise<never>
  readonly #options: DevelopmentRunOptions
  readonly #children = new Map<RunProcess, SupervisedChild[]>()
  /** In the order in which they are undone, last first. */
  readonly #undo: (() => void | Promise<void>)[] = []
  #fail: (error: Error) => void = () => undefined
  #databases: Databases | undefined
  #tokens: TokenKeeper | undefined
  #credentials: Credentials | undefined

  constructor(options: DevelopmentRunOptions) {
    this.#options = options
    const { promise, reject } = Promise.withResolvers<never>()
    this.failed = promise
    this.#fail = reject
  }

  get credentials(): Credentials {
    if (!this.#credentials) throw new Error('the run is not ready')
    return this.#credentials
  }

  /** Starts everything. Resolves when every process is ready and the tokens are there; rejects as `failed` does. */
  async start(): Promise<void> {
    try {
      await this.#start()
    } catch (error) {
      this.#fail(error as Error)
      throw error
    }
  }

  async #start(): Promise<void> {
    const { directory, environment, say } = this.#options
    if (environment['BAYAR_ENV'] && environment['BAYAR_ENV'] !== 'sandbox') throw new Error('the development run is a sandbox: unset BAYAR_ENV')
    const copies = { simulator: 1, inbox: 1, ...copiesOf(environment, process.platform) }
    mkdirSync(join(directory, 'log'), { recursive: true })
    this.#undo.push(lockRun(join(directory, 'run.pid')))
    const ports = await claimPorts(environment['PORT'], environment['HOST'] || '127.0.0.1')
    this.#undo.push(() => ports.release())
    if (ports.instead) say(`${ports.instead.taken}: using ${ports.base} to ${ports.base + 9} instead`)
    const secretsFile = join(directory, 'secrets.json')
    const secrets = loadSecrets(secretsFile, systemRuntime)
    say('starting the database')
    const databases = await openDatabases(directory, environment, say)
    this.#databases = databases
    this.#undo.push(() => databases.stop())
    say(`${databases.description} is up; migrating`)
    await this.migrate()
    const addresses = addressesOn(ports)
    const identity = await this.#seed(secrets, addresses)
    saveSecrets(secretsFile, secrets)
    const receiver = await receiverFiles(directory, environment['WEBHOOK_CA_FILE'] ?? '', systemRuntime.now())
    say('the demo data is there; starting the processes')
    const { client_id: id, client_secret: secret } = identity.clients.payments
    const parts: RunParts = {
      environment, ports, addresses, databases, secrets, identityClient: { id, secret }, directory, receiver,
    }
    for (const name of names) this.#launch(name, plansOf(name, copies[name], parts))
    await Promise.all([...this.#children.values()].flat().map(async (child) => {
      if (await child.ready) say(`${child.name} is ready`)
      else await this.failed
    }))
    await this.#signIn(addresses, secrets, identity)
  }

  /** Applies what is pending. Throws what a failing migration says. */
  async migrate(): Promise<void> {
    if (!this.#databases) throw new Error('the databases are not open')
    const applied = await migrateDatabases(this.#databases)
    if (applied.length > 0) this.#options.say(`applied ${applied.length} migrations`)
  }

  async #seed(secrets: DevelopmentSecrets, addresses: Addresses): Promise<SeededIdentity> {
    if (!this.#databases) throw new Error('the databases are not open')
    const sealing = sealingKeys(secrets.sealing_keys)
    const open = (url: string) => connect(url, { max: 1, limitMs: 30_000, applicationName: 'bayar seed' })
    const [identityDatabase, database] = [open(this.#databases.identity), open(this.#databases.main)]
    const seedPeople = (known: SeededIdentity | null, merchantId: string) => seedIdentity(identityDatabase, {
      runtime: systemRuntime, sealing, merchantId, hosts: [storefrontHost], environment: 'sandbox', known,
    })
    try {
      const identity = await seedPeople(secrets.identity, secrets.merchant_id)
      const tenantId = identity.tenant_id
      const { merchantId, apiKey } = await database.tx((sql) => seedPayments(sql, {
        tenantId, createdBy: identity.users.owner.id, merchantId: secrets.merchant_id, apiKey: secrets.api_key,
        credential: { id: secrets.simulator.credential_id, secret: secrets.simulator.callback_secret }, sealing, runtime: systemRuntime,
      }))
      // A database that was there before has a merchant of its own: that one is the owner's.
      if (merchantId !== secrets.merchant_id) await seedPeople(identity, merchantId)
      const inbox = await database.tx((sql) => seedInbox(sql, {
        tenantId, merchantId, url: receiverOn(addresses), known: secrets.inbox, sealing, runtime: systemRuntime,
      }))
      Object.assign(secrets, { identity, merchant_id: merchantId, api_key: apiKey, inbox })
      return identity
    } finally {
      await Promise.all([identityDatabase.end(), database.end()])
    }
  }

  #launch(name: RunProcess, plans: readonly ChildPlan[]): void {
    const { say, keepsFailedStarts } = this.#options
    const gaveUp = (plan: ChildPlan, message: string): void => {
      const whole = `${plan.name} does not start:\n${message}`
      if (keepsFailedStarts && this.#credentials) say(`${whole}\n  it is tried again at the next change`)
      else this.#fail(new Error(whole))
    }
    // A wrong setting is told once and at the start, not by each process that stumbles over it.
    if (name !== 'inbox') for (const { environment } of plans) readConfiguration(name, environment)
    this.#children.set(name, plans.map((plan) => {
      rmSync(plan.logFile, { force: true })
      const child = supervise(plan, { say, gaveUp })
      let last: string | null = null
      this.#undo.push(followLog(plan.logFile, (text) => {
        const line = notable(text)
        if (line !== null && line !== last) say(`${plan.name}: ${line} (.dev/log/${basename(plan.logFile)})`)
        last = line
      }))
      return child
    }))
  }

  async #signIn(addresses: Addresses, secrets: DevelopmentSecrets, identity: SeededIdentity): Promise<void> {
    const file = credentialsFile(this.#options.directory)
    const kept = keptTokens(file)
    const credentials = credentialsOf(addresses, secrets, identity, this.#databases)
    const person = (name: 'owner' | 'second_approver' | 'platform_admin') => {
      const { email, password, totp_secret } = credentials[name]
      return () => logIn(addresses.identity, { email, password, totpSecret: totp_secret })
    }
    const obtain: Record<TokenHolderName, TokenHolder['obtain']> = {
      owner: person('owner'), second_approver: person('second_approver'), platform_admin: person('platform_admin'),
      bff: () => signInClient(addresses.identity, credentials.bff.client_id, credentials.bff.client_secret),
    }
    this.#tokens = keepTokens(tokenHolders.map((name) => ({ name, kept: kept[name], obtain: obtain[name] })), {
      issuer: issuerOn(addresses),
      isAccepted: async (token) => (await fetch(`${addresses.payments}/v1/me`, { headers: { Authorization: `Bearer ${token}` } })).ok,
      changed: (name, token) => {
        credentials[name as TokenHolderName].access_token = token
        writeCredentials(file, credentials)
      },
      say: this.#options.say,
    })
    this.#undo.push(() => this.#tokens?.stop())
    await this.#tokens.asked
    this.#credentials = credentials
  }

  /** Drains the named processes and starts them anew. Says which, or null when one could not start. */
  async restart(which: readonly RunProcess[]): Promise<string | null> {
    const children = which.flatMap((name) => this.#children.get(name) ?? [])
    const results = await Promise.all(children.map((child) => child.restart()))
    return results.every(Boolean) ? children.map(({ name }) => name).join(', ') : null
  }

  /** Stops everything in order; what has already ended is no obstacle. */
  async stop(): Promise<void> {
    for (const group of stopOrder) {
      const children = group.flatMap((name) => this.#children.get(name) ?? [])
      await Promise.all(children.map((child) => child.stop()))
    }
    for (const undo of this.#undo.toReversed()) await undo()
    if (this.#databases) this.#options.say('everything is stopped')
  }

  /** Ends what still runs, without waiting for it. */
  killNow(): void {
    for (const child of [...this.#children.values()].flat()) child.killNow()
    this.#databases?.killNow()
  }
}

function credentialsOf(
  addresses: Addresses, secrets: DevelopmentSecrets, identity: SeededIdentity, databases: Databases | undefined,
): Credentials {
  if (secrets.api_key === null || !databases) throw new Error('the demo data is not there')
  const { users, clients } = identity
  const person = ({ email, password, totp_secret }: typeof users.owner) => ({ email, password, totp_secret, access_token: null })
  return {
    payments_url: addresses.payments,
    storefront_url: addresses.storefront,
    identity_url: addresses.identity,
    checkout_url_base: `${addresses.payments}/pay`,
    simulator_url: addresses.simulator,
    inbox_url: addresses.inbox,
    tenant_id: identity.tenant_id,
    merchant_id: secrets.merchant_id,
    store_id: null,
    storefront_host: storefrontHost,
    api_key: secrets.api_key,
    owner: person(users.owner),
    second_approver: person(users.second_approver),
    platform_admin: person(users.platform_admin),
    bff: { ...clients['storefront-bff'], access_token: null },
    database_url: databases.main,
    identity_database_url: databases.identity,
  }
}
