import { expect, test } from 'vitest'
import identity from '../generated/identity.json' with { type: 'json' }
import payments from '../generated/payments.json' with { type: 'json' }
import storefront from '../generated/storefront.json' with { type: 'json' }
import { releases, version } from './releases.ts'

test('the version is that of every document and of the newest release', () => {
  expect([payments, storefront, identity].map(({ info }) => info.version)).toEqual([version, version, version])
  expect(releases[0]?.version).toBe(`v${version}`)
})

test('the history is newest first and holds the table of the brief', () => {
  const numbers = releases.map((release) => release.version.slice(1).split('.').map(Number))
  const order = numbers.map(([major = 0, minor = 0, patch = 0]) => major * 1e6 + minor * 1e3 + patch)
  expect(order).toEqual([...order].sort((a, b) => b - a))
  for (const known of ['0.35.1', '0.35.0', '0.34.0', '0.30.0', '0.29.0', '0.28.0', '0.19.1', '0.19.0', '0.18.1', '0.17.0', '0.14.2', '0.14.1', '0.13.0']) {
    expect(releases.map((release) => release.version)).toContain(`v${known}`)
  }
})
