import { describe, expect, test } from 'vitest'
import { readConfiguration } from '../domain/configuration.ts'
import { systemRuntime } from '../domain/runtime.ts'
import { givenDatabases } from './databases.ts'
import { addressesOn, copiesOf, plansOf } from './plan.ts'
import type { RunProcess } from './plan.ts'
import { portOffsets } from './ports.ts'
import { processesUsing, touchesDocuments, touchesMigrations } from './watch.ts'

const made = (): string => systemRuntime.randomBytes(24).toString('base64url')
const ports = { base: 4600, instead: null, portOf: (name: keyof typeof portOffsets) => 4600 + portOffsets[name], release: () => undefined }
const databases = { main: `postgres://a:${made()}@localhost/main`, identity: `postgres://a:${made()}@localhost/identity` }
const secrets = {
  sealing_keys: made(), merchant_id: made(), api_key: made(), identity: null, inbox: { id: made(), secret: made() },
  simulator: { api_key: made(), credential_id: made(), callback_secret: made() },
}
const parts = {
  environment: { LOG_LEVEL: 'warn', DATABASE_URL: 'postgres://elsewhere/x' }, ports, addresses: addressesOn(ports), databases, secrets,
  identityClient: { id: 'payments', secret: made() }, directory: '/run',
  receiver: { certificate: '/run/certificate.pem', key: '/run/key.pem', trusted: '/run/trusted.pem' },
}

const environmentOf = (name: RunProcess, copies = 1) => plansOf(name, copies, parts).map(({ environment }) => environment)

describe('what a process is told', () => {
  test('is all that it needs to start, for each of them', () => {
    for (const name of ['payments', 'storefront', 'identity', 'simulator', 'worker'] as const) {
      for (const environment of environmentOf(name, 2)) expect(() => readConfiguration(name, environment)).not.toThrow()
    }
  })

  test('holds no secret that another process alone needs', () => {
    const seen = (name: RunProcess): string => JSON.stringify(environmentOf(name))
    expect(seen('storefront')).not.toContain(secrets.sealing_keys)
    expect(seen('simulator')).not.toContain(secrets.sealing_keys)
    expect(seen('simulator')).not.toContain(databases.main)
    expect(seen('identity')).not.toContain(databases.main)
    expect(seen('payments')).not.toContain(databases.identity)
    expect(seen('payments')).not.toContain(secrets.simulator.callback_secret)
  })

  test('the inbox knows its own secret and no other; nobody else knows it', () => {
    const seen = (name: RunProcess): string => JSON.stringify(environmentOf(name))
    expect(environmentOf('inbox')).toEqual([expect.objectContaining({ INBOX_PORT: '4608', INBOX_SECRET: secrets.inbox.secret, INBOX_CREDENTIALS_FILE: '/run/credentials.json' })])
    for (const other of [secrets.sealing_keys, secrets.api_key, databases.main, secrets.simulator.callback_secret]) expect(seen('inbox')).not.toContain(other)
    for (const name of ['payments', 'storefront', 'identity', 'simulator', 'worker'] as const) expect(seen(name)).not.toContain(secrets.inbox.secret)
  })

  test('webhooks may go to this machine and its certificate, unless it was said otherwise', () => {
    expect(environmentOf('worker')[0]).toMatchObject({ WEBHOOK_ALLOW_PRIVATE: 'on', WEBHOOK_CA_FILE: '/run/trusted.pem' })
    const strict = plansOf('worker', 1, { ...parts, environment: { WEBHOOK_ALLOW_PRIVATE: 'off' } })
    expect(strict[0]?.environment['WEBHOOK_ALLOW_PRIVATE']).toBe('off')
  })

  test('copies share the port and only the first serves metrics; what was set outside goes through', () => {
    const [first, second] = environmentOf('payments', 2)
    expect([first?.['PAYMENTS_PORT'], first?.['SHARE_PORT'], first?.['METRICS_PORT']]).toEqual(['4600', 'on', '4604'])
    expect([second?.['PAYMENTS_PORT'], second?.['SHARE_PORT'], second?.['METRICS_PORT']]).toEqual(['4600', 'on', '0'])
    expect([first?.['LOG_LEVEL'], first?.['DATABASE_URL']]).toEqual(['warn', databases.main])
  })
})

describe('settings of a run', () => {
  test('copies on one port are refused where a port cannot be shared, and workers are not', () => {
    expect(copiesOf({ PAYMENTS_COPIES: '3' }, 'linux').payments).toBe(3)
    expect(copiesOf({ WORKER_COPIES: '3' }, 'darwin').worker).toBe(3)
    expect(() => copiesOf({ PAYMENTS_COPIES: '3' }, 'darwin')).toThrow('need Linux')
    for (const text of ['0', '17', 'two', '1.5']) expect(() => copiesOf({ IDENTITY_COPIES: text }, 'linux')).toThrow('IDENTITY_COPIES must be')
  })

  test('database addresses come both or not at all, and differ', () => {
    expect(givenDatabases({})).toBeUndefined()
    expect(givenDatabases({ DATABASE_URL: databases.main, IDENTITY_DATABASE_URL: databases.identity })).toEqual(databases)
    expect(() => givenDatabases({ DATABASE_URL: databases.main })).toThrow('go together')
    expect(() => givenDatabases({ DATABASE_URL: databases.main, IDENTITY_DATABASE_URL: databases.main })).toThrow('of its own')
  })
})

describe('what a change restarts', () => {
  test('the handlers of one service restart that service alone, anything else everything', () => {
    expect(processesUsing(['handlers/payments/me/getMe.ts', 'handlers/payments/index.ts'])).toEqual(['payments'])
    expect(processesUsing(['handlers/payments/index.ts', 'providers/simulator/pages.ts'])).toEqual(['payments', 'simulator'])
    expect(processesUsing(['handlers/payments/index.ts', 'domain/qris.ts'])).toHaveLength(5)
  })

  test('documents are generated anew and migrations applied when they change', () => {
    expect([touchesDocuments(['spec/payments/openapi.yaml']), touchesDocuments(['handlers/server.ts'])]).toEqual([true, false])
    expect([touchesMigrations(['db/migrations/main/000003_x.sql']), touchesMigrations(['db/sql.ts'])]).toEqual([true, false])
  })
})
