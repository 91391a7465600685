import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { deleteWebhookSubscription, disableWebhookSubscription, insertWebhookSubscription, listWebhookSubscriptions } from '../../db/payments/webhookSubscriptions.ts'
import { connect } from '../../db/sql.ts'
import type { Database } from '../../db/sql.ts'
import { cloneDatabase } from '../../db/testDatabase.ts'
import { systemRuntime } from '../../domain/runtime.ts'
import { sealingKeys } from '../../domain/sealing.ts'
import { eventKinds } from '../../domain/webhookEvents.ts'
import { webhookSecretIdentity } from '../../domain/webhookSecrets.ts'
import { seedPayments } from '../seedPayments.ts'
import { seedInbox } from './seedInbox.ts'
import type { InboxSubscription } from './seedInbox.ts'

let database: Database
let merchantId: string
const newKeys = () => sealingKeys(`test:${randomBytes(32).toString('base64')}`)
const sealing = newKeys()
const tenantId = randomUUID()
const url = 'https://localhost:4008/'
const end: (() => Promise<void>)[] = []
beforeAll(async () => {
  const clone = await cloneDatabase(inject('testServer'), 'template_main')
  database = connect(clone.url)
  end.push(() => database.end(100), clone.drop)
  const credential = { id: randomUUID(), secret: randomBytes(24).toString('base64url') }
  merchantId = (await database.tx((sql) => seedPayments(sql, {
    tenantId, createdBy: randomUUID(), merchantId: randomUUID(), apiKey: null, credential, sealing, runtime: systemRuntime,
  }))).merchantId
})
afterAll(async () => {
  for (const each of end) await each()
})

const seed = (known: InboxSubscription | null, changes: object = {}) =>
  database.tx((sql) => seedInbox(sql, { tenantId, merchantId, url, known, sealing, runtime: systemRuntime, ...changes }))
const rows = async () => (await database.query((sql) =>
  listWebhookSubscriptions(sql, { tenantId, merchantIds: [merchantId] }, { search: null, limit: 100, offset: 0 }))).rows
const only = async () => {
  const [row, ...more] = await rows()
  if (!row || more.length > 0) throw new Error(`${more.length + (row ? 1 : 0)} subscriptions instead of one`)
  return row
}

test('the receiver is subscribed to every kind, under a secret that the inbox knows', async () => {
  const { id, secret } = await seed(null)
  const row = await only()
  expect(row).toMatchObject({ id, url, active: true, events: [...eventKinds] })
  expect(sealing.open(row.secret, webhookSecretIdentity(id)).toString()).toBe(secret)
})

test('over further runs it stays one, with the same secret, at the address of the run', async () => {
  const first = await seed(null)
  expect(await seed(first, { url: 'https://localhost:4018/' })).toEqual(first)
  expect(await only()).toMatchObject({ id: first.id, url: 'https://localhost:4018/' })
})

test('one that failures disabled is active again, one that was paused stays so', async () => {
  const known = await seed(null)
  const disable = async (reason: 'failures' | 'paused') => {
    const row = await only()
    await database.query((sql) => disableWebhookSubscription(sql, row, reason, new Date()))
  }
  await disable('failures')
  expect(await seed(known)).toEqual(known)
  expect((await only()).active).toBe(true)
  await disable('paused')
  expect(await seed(known)).toEqual(known)
  expect((await only()).active).toBe(false)
})

test('one that was deleted, or whose secret cannot be known any more, is replaced', async () => {
  const known = await seed(null)
  const row = await only()
  await database.query((sql) => deleteWebhookSubscription(sql, row, new Date()))
  const second = await seed(known)
  expect(second.id).not.toBe(known.id)
  const third = await seed(second, { sealing: newKeys() })
  expect(third.id).not.toBe(second.id)
  expect((await only()).id).toBe(third.id)
})

test('subscriptions of the merchant\'s own are left alone', async () => {
  const id = randomUUID()
  await database.query((sql) => insertWebhookSubscription(sql, {
    id, tenantId, merchantId, url: 'https://shop.example/hooks', description: 'Not the Inbox of the development run', secret: randomBytes(40), events: ['payment.completed'],
    createdAt: new Date(),
  }))
  const { id: own } = await seed(null)
  expect((await rows()).map((row) => row.id).toSorted()).toEqual([id, own].toSorted())
})
