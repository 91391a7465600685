import { describe, expect, test } from 'vitest'
import { describeSettings, readConfiguration, settings } from './configuration.ts'

const complete = {
  DATABASE_URL: 'postgres://localhost/bayar', IDENTITY_DATABASE_URL: 'postgres://localhost/identity', SEALING_KEYS: 'a:b',
  IDENTITY_CLIENT_ID: 'payments', IDENTITY_CLIENT_SECRET: 's', SIMULATOR_API_KEY: 'k', SIMULATOR_CREDENTIAL_ID: 'c', SIMULATOR_CALLBACK_SECRET: 's',
  SIMULATOR_CALLBACK_URL: 'http://localhost:4000/v1/inbound/psp/simulator/c',
}

describe('the configuration of a process', () => {
  test('is complete with what the process requires, and the rest by default', () => {
    expect(readConfiguration('payments', complete)).toMatchObject({ BAYAR_ENV: 'sandbox', PAYMENTS_PORT: 4000, TRUSTED_PROXIES: [], RATE_LIMIT_PER_CALLER: 100 })
  })

  test('is refused by one message that names every variable that is missing', () => {
    expect(() => readConfiguration('payments', {})).toThrow(/payments cannot start:[^]*DATABASE_URL is not set[^]*SEALING_KEYS is not set/)
  })

  test('asks for nothing that another process needs', () => {
    expect(() => readConfiguration('storefront', { DATABASE_URL: complete.DATABASE_URL })).not.toThrow()
  })

  test.each([
    ['BAYAR_ENV', 'staging', 'must be sandbox or production'],
    ['PAYMENTS_PORT', '70000', 'must be a whole number from 0 to 65535'],
    ['PAYMENTS_PORT', '1e3', 'must be a whole number from 0 to 65535'],
    ['PAYMENTS_URL', 'localhost:4000', 'must be an http or https address'],
    ['DATABASE_URL', 'mysql://localhost/bayar', 'must be a postgres:// address'],
    ['PROVIDER_TIMEOUT_MS', '15000', 'must be a whole number from 10 to 14000'],
    ['LOG_LEVEL', 'loud', 'must be debug or info'],
  ])('refuses %s=%s and says what is allowed', (name, value, reason) => {
    expect(() => readConfiguration('payments', { ...complete, [name]: value })).toThrow(`${name} ${reason}`)
  })

  test('never repeats the value of a secret', () => {
    const secret = 'mysql://user:very-secret@localhost/bayar'
    try {
      readConfiguration('payments', { ...complete, DATABASE_URL: secret })
      expect.unreachable()
    } catch (error) {
      expect((error as Error).message).not.toContain('very-secret')
    }
  })

  test('takes an empty variable as not set, and lists without the blanks', () => {
    expect(readConfiguration('payments', { ...complete, PAYMENTS_PORT: '', TRUSTED_PROXIES: ' 10.0.0.0/8, ,127.0.0.1 ' }))
      .toMatchObject({ PAYMENTS_PORT: 4000, TRUSTED_PROXIES: ['10.0.0.0/8', '127.0.0.1'] })
  })
})

test('the table for people has a row for every setting', () => {
  const table = describeSettings()
  for (const name of Object.keys(settings)) expect(table).toContain(`| \`${name}\` |`)
})
