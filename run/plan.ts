import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { settings } from '../domain/configuration.ts'
import type { ProcessName } from '../domain/configuration.ts'
import { credentialsFile } from './credentials.ts'
import type { Databases } from './databases.ts'
import type { ReceiverFiles } from './inbox/certificate.ts'
import type { ClaimedPorts, PortName } from './ports.ts'
import type { DevelopmentSecrets } from './secrets.ts'
import type { ChildPlan } from './supervisor.ts'

/** A process of a run: one of the system's, or the inbox, which is the run's own. */
export type RunProcess = ProcessName | 'inbox'

type Environment = Readonly<Record<string, string | undefined>>

export interface Addresses {
  payments: string
  storefront: string
  identity: string
  simulator: string
  inbox: string
}

export interface RunParts {
  environment: Environment
  ports: ClaimedPorts
  addresses: Addresses
  databases: Pick<Databases, 'main' | 'identity'>
  secrets: DevelopmentSecrets
  identityClient: { id: string, secret: string }
  receiver: ReceiverFiles
  /** Folder of what a run keeps. */
  directory: string
}

const entries: Record<RunProcess, { file: string, arguments: readonly string[] }> = {
  payments: { file: 'handlers/server.ts', arguments: ['payments'] },
  storefront: { file: 'handlers/server.ts', arguments: ['storefront'] },
  identity: { file: 'handlers/server.ts', arguments: ['identity'] },
  simulator: { file: 'providers/simulator/server.ts', arguments: [] },
  worker: { file: 'jobs/main.ts', arguments: [] },
  inbox: { file: 'run/inbox.ts', arguments: [] },
}

const copiesAtMost = 16

/** Where each service is to be reached, as seen from this machine. */
export function addressesOn(ports: ClaimedPorts): Addresses {
  const at = (name: PortName): string => `http://localhost:${ports.portOf(name)}`
  return { payments: at('payments'), storefront: at('storefront'), identity: at('identity'), simulator: at('simulator'), inbox: at('inbox') }
}

/** Address of the run's receiver of webhooks: it shares the port of the inbox page. */
export function receiverOn({ inbox }: Addresses): string {
  return `${inbox.replace(/^http:/, 'https:')}/`
}

/** `iss` of the tokens of a run. */
export function issuerOn({ identity }: Addresses): string {
  return `${identity}/v1`
}

/** Copies of each process by PAYMENTS_COPIES and so on; default 1. Throws on a number that cannot be, or where copies cannot share a port. */
export function copiesOf(environment: Environment, platform: string): Record<Exclude<ProcessName, 'simulator'>, number> {
  const read = (name: Exclude<ProcessName, 'simulator'>): number => {
    const variable = `${name.toUpperCase()}_COPIES`
    const text = environment[variable] || '1'
    const copies = Number(text)
    if (!Number.isInteger(copies) || copies < 1 || copies > copiesAtMost) throw new Error(`${variable} must be a whole number from 1 to ${copiesAtMost}`)
    if (copies > 1 && name !== 'worker' && platform !== 'linux') {
      throw new Error(`${variable}=${copies}: several copies on one port need Linux; put a proxy before copies on ports of their own, or run one`)
    }
    return copies
  }
  return { payments: read('payments'), storefront: read('storefront'), identity: read('identity'), worker: read('worker') }
}

/** The plans of every copy of a process. */
export function plansOf(name: RunProcess, copies: number, parts: RunParts): ChildPlan[] {
  const { file, arguments: given } = entries[name]
  return Array.from({ length: copies }, (_, at) => ({
    name: at === 0 ? name : `${name} ${at + 1}`,
    entry: fileURLToPath(new URL(`../${file}`, import.meta.url)),
    arguments: given,
    environment: name === 'inbox' ? inboxEnvironment(parts) : environmentOf(name, at, copies, parts),
    logFile: join(parts.directory, 'log', at === 0 ? `${name}.log` : `${name}-${at + 1}.log`),
  }))
}

/** The inbox is no part of the system: it is told what it needs and nothing else. */
function inboxEnvironment({ directory, environment, ports, receiver, secrets }: RunParts): Environment {
  if (secrets.inbox === null) throw new Error('the demo data is not there')
  return {
    NODE_COMPILE_CACHE: join(directory, 'compiled'),
    HOST: environment['HOST'] || '127.0.0.1',
    INBOX_PORT: String(ports.portOf('inbox')),
    INBOX_SECRET: secrets.inbox.secret,
    INBOX_CERTIFICATE_FILE: receiver.certificate,
    INBOX_KEY_FILE: receiver.key,
    // Read when it is needed: tokens in it are renewed while the run is on.
    INBOX_CREDENTIALS_FILE: credentialsFile(directory),
  }
}

/** What a process is told: everything given from outside, then the run's own; no secret that it has no use for. */
function environmentOf(name: ProcessName, copy: number, copies: number, parts: RunParts): Environment {
  const { environment, ports, addresses, databases, secrets, identityClient, receiver, directory } = parts
  const all: Record<string, string | undefined> = {
    ...environment,
    // Compiled code is kept between starts: that takes a third off each.
    NODE_COMPILE_CACHE: join(directory, 'compiled'),
    BAYAR_ENV: 'sandbox',
    SHARE_PORT: copies > 1 ? 'on' : 'off',
    // Nothing balances between copies here that would have to see one drain.
    DRAIN_DELAY_MS: environment['DRAIN_DELAY_MS'] || '0',
    PAYMENTS_PORT: String(ports.portOf('payments')),
    STOREFRONT_PORT: String(ports.portOf('storefront')),
    IDENTITY_PORT: String(ports.portOf('identity')),
    SIMULATOR_PORT: String(ports.portOf('simulator')),
    // Copies share a port for requests, not for figures: the first one serves its own.
    METRICS_PORT: name === 'simulator' || copy > 0 ? '0' : String(ports.portOf(`${name} metrics`)),
    PAYMENTS_URL: addresses.payments,
    IDENTITY_URL: addresses.identity,
    TOKEN_ISSUER: issuerOn(addresses),
    TOKEN_JWKS_URL: `${addresses.identity}/v1/.well-known/jwks.json`,
    DATABASE_URL: databases.main,
    IDENTITY_DATABASE_URL: databases.identity,
    SEALING_KEYS: secrets.sealing_keys,
    IDENTITY_CLIENT_ID: identityClient.id,
    IDENTITY_CLIENT_SECRET: identityClient.secret,
    SIMULATOR_URL: addresses.simulator,
    SIMULATOR_API_KEY: secrets.simulator.api_key,
    SIMULATOR_CREDENTIAL_ID: secrets.simulator.credential_id,
    SIMULATOR_CALLBACK_SECRET: secrets.simulator.callback_secret,
    SIMULATOR_CALLBACK_URL: `${addresses.payments}/v1/inbound/psp/simulator/${secrets.simulator.credential_id}`,
    SIMULATOR_JOURNAL: join(directory, 'simulator.journal'),
    // The inbox listens on this machine.
    WEBHOOK_ALLOW_PRIVATE: environment['WEBHOOK_ALLOW_PRIVATE'] || 'on',
    WEBHOOK_CA_FILE: receiver.trusted,
  }
  for (const [variable, { secret, requiredBy }] of Object.entries(settings)) {
    if (secret && !requiredBy.includes(name)) delete all[variable]
  }
  return all
}
