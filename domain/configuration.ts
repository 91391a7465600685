/** Processes of the system; each can be started alone and in several copies. */
export type ProcessName = 'payments' | 'storefront' | 'identity' | 'simulator' | 'worker'

interface Setting<Value> {
  /** Reads the text of the variable. Throws a RangeError that says what is allowed. */
  read(text: string): Value
  /** Text of the default; null when there is none. */
  fallback: string | null
  /** Processes that cannot start without a value. */
  requiredBy: readonly ProcessName[]
  /** For the table in the README. */
  describe: string
  secret: boolean
}

const everyone: readonly ProcessName[] = ['payments', 'storefront', 'identity', 'simulator', 'worker']

function text(fallback: string | null, describe: string, requiredBy: readonly ProcessName[] = []): Setting<string> {
  return { read: (value) => value, fallback, requiredBy, describe, secret: false }
}

function secret(describe: string, requiredBy: readonly ProcessName[]): Setting<string> {
  return { read: (value) => value, fallback: null, requiredBy, describe, secret: true }
}

function choice<Value extends string>(values: readonly Value[], fallback: Value, describe: string): Setting<Value> {
  const read = (value: string): Value => {
    const known = values.find((candidate) => candidate === value)
    if (known === undefined) throw new RangeError(`must be ${values.join(' or ')}`)
    return known
  }
  return { read, fallback, requiredBy: [], describe, secret: false }
}

function whole(low: number, high: number, fallback: number, describe: string): Setting<number> {
  const read = (value: string): number => {
    const number = Number(value)
    if (!/^\d+$/.test(value) || number < low || number > high) throw new RangeError(`must be a whole number from ${low} to ${high}`)
    return number
  }
  return { read, fallback: String(fallback), requiredBy: [], describe, secret: false }
}

function url(fallback: string | null, describe: string, requiredBy: readonly ProcessName[] = []): Setting<string> {
  const read = (value: string): string => {
    if (!/^https?:\/\//.test(value) || !URL.canParse(value)) throw new RangeError('must be an http or https address')
    return value.replace(/\/$/, '')
  }
  return { read, fallback, requiredBy, describe, secret: false }
}

function database(describe: string, requiredBy: readonly ProcessName[]): Setting<string> {
  const read = (value: string): string => {
    if (!/^postgres(ql)?:\/\//.test(value) || !URL.canParse(value)) throw new RangeError('must be a postgres:// address')
    return value
  }
  return { read, fallback: null, requiredBy, describe, secret: true }
}

function list(fallback: string, describe: string): Setting<readonly string[]> {
  return { read: (value) => value.split(',').map((entry) => entry.trim()).filter((entry) => entry !== ''), fallback, requiredBy: [], describe, secret: false }
}

/** Every setting of every process, from the environment and nowhere else. */
export const settings = {
  BAYAR_ENV: choice(['sandbox', 'production'], 'sandbox', 'Environment of this deployment and its database.'),
  BAYAR_CHECK_RESPONSES: choice(['on', 'off', 'auto'], 'auto', 'Check every answer against the document; `auto` is on outside production.'),
  BAYAR_EGRESS_ADDRESSES: list('', 'Addresses that outgoing webhooks come from, for getMetadata; commas between.'),
  HOST: text('127.0.0.1', 'Address to listen on; 0.0.0.0 for all.'),
  SHARE_PORT: choice(['on', 'off'], 'off', 'Lets several copies of a service listen on one port; systems that cannot (macOS) refuse to start.'),
  PAYMENTS_PORT: whole(0, 65535, 4000, 'Port of the payments service; 0 takes a free one.'),
  STOREFRONT_PORT: whole(0, 65535, 4001, 'Port of the storefront service.'),
  IDENTITY_PORT: whole(0, 65535, 4002, 'Port of the identity service.'),
  SIMULATOR_PORT: whole(0, 65535, 4003, 'Port of the provider simulator.'),
  METRICS_PORT: whole(0, 65535, 0, 'Port of this process\'s `/metrics`, on 127.0.0.1; 0 serves none.'),
  PAYMENTS_URL: url('http://localhost:4000', 'Public address of the payments service: hosted pages, callbacks.'),
  IDENTITY_URL: url('http://localhost:4002', 'Address of the identity service, as services call it.'),
  TOKEN_ISSUER: url('http://localhost:4002/v1', '`iss` of access tokens; its metadata is at this address plus `/.well-known/openid-configuration`.'),
  TOKEN_JWKS_URL: url('http://localhost:4002/v1/.well-known/jwks.json', 'Where the issuer\'s keys are; another issuer is possible.'),
  DATABASE_URL: database('Database of payments and storefront.', ['payments', 'storefront', 'worker']),
  IDENTITY_DATABASE_URL: database('Database of identity.', ['identity']),
  DRAIN_DELAY_MS: whole(0, 5000, 1000, 'Milliseconds after SIGTERM in which a service takes requests still, while `/ready` answers 503: at least what a balancer needs to see that.'),
  DATABASE_CONNECTIONS: whole(1, 100, 10, 'Most connections of this process.'),
  SEALING_KEYS: secret('Keys that stored secrets are under: `<id>:<base64 of 32 bytes>`, commas between, the first one seals.', ['payments', 'identity', 'worker']),
  IDENTITY_CLIENT_ID: text(null, 'Client by which this service signs in at identity.', ['payments']),
  IDENTITY_CLIENT_SECRET: secret('Secret of that client.', ['payments']),
  SIMULATOR_URL: url('http://localhost:4003', 'Address of the provider simulator; sandbox only.'),
  SIMULATOR_API_KEY: secret('Key by which payments calls the simulator.', ['simulator', 'payments', 'worker']),
  SIMULATOR_CREDENTIAL_ID: text(null, 'Credential that signs the simulator\'s callbacks.', ['payments', 'worker']),
  SIMULATOR_CALLBACK_SECRET: secret('Secret that signs the simulator\'s callbacks.', ['simulator']),
  SIMULATOR_CALLBACK_URL: url(null, 'Where the simulator calls back; `<PAYMENTS_URL>/v1/inbound/psp/simulator/<SIMULATOR_CREDENTIAL_ID>`.', ['simulator']),
  SIMULATOR_JOURNAL: text('', 'File that keeps the simulator\'s charges and refunds between runs; empty keeps none.'),
  SANDBOX_APPROVE_CODE: text('4000000000001091', 'auth_code that approves a 3-D-Secure challenge; sandbox only.'),
  SANDBOX_DECLINE_CODE: text('4000000000001109', 'auth_code that declines a 3-D-Secure challenge; sandbox only.'),
  PROVIDER_TIMEOUT_MS: whole(10, 14_000, 8000, 'Longest call to a payment provider, in milliseconds; below the lease of 15 s.'),
  WEBHOOK_ALLOW_PRIVATE: choice(['on', 'off'], 'off', 'Lets webhooks go to loopback and private networks: development and tests only.'),
  WEBHOOK_CA_FILE: text('', 'PEM file of a further CA that receivers of webhooks may have their certificate from; empty adds none.'),
  WEBHOOK_RETENTION_DAYS: whole(1, 3650, 30, 'Days that finished deliveries of webhooks are kept, with their attempts; events are kept for ever.'),
  PROVIDER_CALLBACK_RETENTION_DAYS: whole(30, 3650, 400, 'Days that callbacks of payment providers are kept as they came; what they told of stays.'),
  CHANNEL_DISPLAY_FILE: text('', 'JSON file of how channels are shown to payers: names, logos, steps (docs/channels.md); empty: neutral ones.'),
  RATE_LIMIT_PER_CALLER: whole(1, 1_000_000, 100, 'Requests a second for each key, token or client, in each process; bursts are twice that.'),
  RATE_LIMIT_PER_ADDRESS: whole(1, 1_000_000, 20, 'Requests a second for each client address on public operations, in each process.'),
  TRUSTED_PROXIES: list('', 'Addresses and networks of proxies whose X-Forwarded-For is believed; commas between.'),
  LOG_LEVEL: choice(['debug', 'info', 'warn', 'error', 'silent'], 'info', 'Least level that is logged.'),
} as const

type Settings = typeof settings

/** Values of all settings; a setting without default that the process does not need may be undefined. */
export type Configuration = {
  [Name in keyof Settings]: Settings[Name] extends Setting<infer Value> ? Value : never
}

/** Reads the configuration of a process. Throws one Error that names every variable that is missing or wrong. */
export function readConfiguration(process: ProcessName, environment: Record<string, string | undefined>): Configuration {
  const problems: string[] = []
  const values: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries<Setting<unknown>>(settings)) {
    const given = environment[name] === '' && setting.fallback !== '' ? undefined : environment[name]
    const value = given ?? setting.fallback
    if (value === null || value === undefined) {
      if (setting.requiredBy.includes(process)) problems.push(`${name} is not set. ${setting.describe}`)
      continue
    }
    try {
      values[name] = setting.read(value)
    } catch (error) {
      problems.push(`${name} ${(error as Error).message}. ${setting.describe}`)
    }
  }
  if (problems.length > 0) throw new Error(`${process} cannot start:\n  ${problems.join('\n  ')}`)
  return values as Configuration
}

/** The text that a setting has when nobody sets it; null: it has none. */
export function defaultOf(name: keyof Configuration): string | null {
  return settings[name].fallback
}

/** The table of settings in Markdown, for the README. */
export function describeSettings(): string {
  const rows = Object.entries<Setting<unknown>>(settings).map(([name, { fallback, requiredBy, describe }]) => {
    const needed = requiredBy.length === everyone.length ? 'required' : requiredBy.length > 0 ? `required by ${requiredBy.join(', ')}` : ''
    return `| \`${name}\` | ${fallback === null ? needed : fallback === '' ? 'none' : `\`${fallback}\``} | ${describe} |`
  })
  return ['| variable | default | meaning |', '|---|---|---|', ...rows].join('\n')
}
