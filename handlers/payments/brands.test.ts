import { expect, test } from 'vitest'
import type { Tenant, TenantDirectory } from '../../providers/tenantDirectory.ts'
import { brands } from './brands.ts'

const branding = { display_name: 'Toko Contoh', logo_url: null, accent_hex: '#0F766E' }
const tenant = { id: 't', name: 'T', status: 'active', branding, modules: [] } satisfies Tenant

/** Brands over a directory that answers as told, on a clock that stands still until it is moved. */
const setUp = (find: TenantDirectory['find'], sleep: () => Promise<void> = () => new Promise(() => undefined)) => {
  let time = 0
  let asked = 0
  const made = brands({
    find: (tenantId) => {
      asked += 1
      return find(tenantId)
    },
  }, { now: () => new Date(time), sleep })
  return { ...made, advance: (milliseconds: number) => void (time += milliseconds), asked: () => asked }
}

test('the first look asks without waiting; the next one knows, for a minute', async () => {
  const { advance, asked, known, underWay } = setUp(async () => tenant)
  expect(underWay()).toBeNull()
  expect(known('t')).toBeNull()
  expect(known('t')).toBeNull()
  await underWay()
  expect(known('t')).toEqual(branding)
  expect(underWay()).toBeNull()
  expect(asked()).toBe(1)
  advance(60_000)
  expect(known('t')).toBeNull()
  expect(asked()).toBe(2)
})

test('while identity cannot be asked there is no brand, and it is asked again only after five seconds', async () => {
  const { advance, asked, known, underWay } = setUp(async () => {
    throw new Error('away')
  })
  known('t')
  await underWay()
  expect(known('t')).toBeNull()
  expect(underWay()).toBeNull()
  advance(5000)
  known('t')
  expect(asked()).toBe(2)
})

test('nobody waits longer than a second for an identity that hangs', async () => {
  const { known, underWay } = setUp(() => new Promise(() => undefined), async () => undefined)
  known('t')
  await underWay()
  expect(known('t')).toBeNull()
})

test('a tenant that identity does not know has no brand', async () => {
  const { known, underWay } = setUp(async () => null)
  known('t')
  await underWay()
  expect(known('t')).toBeNull()
})
