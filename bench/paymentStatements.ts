import { randomBytes, randomUUID } from 'node:crypto'
import { findLiveApiKey, isApiKeyLive } from '../db/payments/apiKeys.ts'
import { insertEvent } from '../db/payments/events.ts'
import { claimIdempotencyKey, storeIdempotentReply } from '../db/payments/idempotencyKeys.ts'
import { findMerchant } from '../db/payments/merchants.ts'
import { fillPaymentAttempt, insertPaymentAttempt } from '../db/payments/paymentAttempts.ts'
import { findPaymentIntent, insertPaymentIntent, lockPaymentIntent, revealPaymentIntent } from '../db/payments/paymentIntents.ts'
import { finishProviderOperation, insertProviderOperation } from '../db/payments/providerOperations.ts'
import { newId, newShortcode } from '../db/ids.ts'
import type { Database, Sql } from '../db/sql.ts'
import { systemRuntime } from '../domain/runtime.ts'
import type { BenchSystem } from './benchSystem.ts'

// The statements of each operation in their order and their transactions, with nothing but the driver before the
// database: no HTTP, no checks, no views, no sealing. Texts that are stored have the length of real ones.

const amount = 150_000
const hour = 3_600_000
const eventBody = 'x'.repeat(1100)
const sealedReply = randomBytes(1000)
const fingerprint = randomBytes(32)
const chargeRequest = { text: 'x'.repeat(500) }

interface Written {
  intentId: string
  now: Date
  request: { tenantId: string, ownerId: string, operationId: string, key: string }
}

/** createPaymentIntent over several channels. */
export async function createSeveral(system: BenchSystem, database: Database): Promise<void> {
  await authenticate(system, database)
  await database.tx(async (sql) => {
    const written = await begin(sql, system, null)
    await insertIntent(sql, system, written, null)
    await writeEvent(sql, system, written)
    await storeReply(sql, written)
  })
}

/** createPaymentIntent through a provider: two transactions, with nothing between them. */
export async function createOne(system: BenchSystem, database: Database): Promise<void> {
  await authenticate(system, database)
  const { key: { tenant_id, merchant_id, id: keyId } } = system
  const [operationId, attemptId, leaseToken] = [newId(systemRuntime), newId(systemRuntime), newId(systemRuntime)]
  const operation = {
    id: operationId, tenant_id, merchant_id, kind: 'create_charge' as const, intent_id: '', attempt_id: attemptId, provider: 'simulator', request: chargeRequest,
    recovery_point: 'started' as const, lease_token: leaseToken, holders: 1, idempotency_operation: 'createPaymentIntent', idempotency_key: null,
    request_id: randomUUID(), created_at: new Date(),
  }
  const written = await database.tx(async (sql) => {
    const begun = await begin(sql, system, operationId)
    await insertIntent(sql, system, begun, attemptId)
    await insertPaymentAttempt(sql, {
      id: attemptId, tenant_id, merchant_id, intent_id: begun.intentId, channel: 'qris', amount_idr: amount, standing: false, provider: 'simulator',
      provider_key: operationId, expires_at: new Date(begun.now.getTime() + hour), created_at: begun.now,
    })
    await insertProviderOperation(sql, { ...operation, intent_id: begun.intentId, idempotency_key: begun.request.key, api_key_id: keyId })
    return begun
  })
  await database.tx(async (sql) => {
    await finishProviderOperation(sql, operation, 'answered', written.now)
    await lockPaymentIntent(sql, tenant_id, merchant_id, written.intentId)
    await fillPaymentAttempt(sql, tenant_id, merchant_id, attemptId, randomUUID(), { qr_string: 'x'.repeat(250) })
    await revealPaymentIntent(sql, tenant_id, merchant_id, written.intentId)
    await writeEvent(sql, system, written)
    await lockPaymentIntent(sql, tenant_id, merchant_id, written.intentId)
    await storeReply(sql, written)
  })
}

/** getPaymentIntent. */
export async function get(system: BenchSystem, database: Database, id: string): Promise<void> {
  await authenticate(system, database)
  const { key: { tenant_id: tenantId, merchant_id } } = system
  const found = await database.query((sql) => findPaymentIntent(sql, { tenantId, merchantIds: [merchant_id] }, id))
  if (!found) throw new Error(`no intent ${id}`)
}

async function authenticate({ digest }: BenchSystem, database: Database): Promise<void> {
  await database.query((sql) => findLiveApiKey(sql, digest, new Date()))
}

async function begin(sql: Sql, { key: { tenant_id: tenantId, merchant_id: ownerId, id } }: BenchSystem, providerOperationId: string | null): Promise<Written> {
  const now = new Date()
  const intentId = newId(systemRuntime)
  const request = { tenantId, ownerId, operationId: 'createPaymentIntent', key: randomUUID() }
  await Promise.all([
    claimIdempotencyKey(sql, request, fingerprint, now, { providerOperationId, resourceId: intentId }),
    isApiKeyLive(sql, tenantId, ownerId, id, now), findMerchant(sql, tenantId, ownerId),
  ])
  return { intentId, now, request }
}

async function insertIntent(sql: Sql, { key: { tenant_id, merchant_id } }: BenchSystem, { intentId, now }: Written, attemptId: string | null): Promise<void> {
  await insertPaymentIntent(sql, {
    id: intentId, tenant_id, merchant_id, shortcode: newShortcode(systemRuntime), visible: attemptId === null, amount_idr: amount, max_uses: 1,
    description: 'Order 1042', allowed_channels: attemptId === null ? ['qris', 'va_bank_a', 'ewallet_wallet_a'] : ['qris'], channel: null,
    metadata: { order_id: '1042' }, reference_id: null, return_url: null, customer: null, customer_id: null, current_attempt_id: attemptId,
    created_at: now, intent_expires_at: new Date(now.getTime() + hour),
  })
}

async function writeEvent(sql: Sql, { key: { tenant_id: tenantId, merchant_id: merchantId } }: BenchSystem, { intentId, now }: Written): Promise<void> {
  await insertEvent(sql, { id: newId(systemRuntime), tenantId, merchantId, kind: 'payment_intent.created', intentId, body: eventBody, createdAt: now }, newId(systemRuntime))
}

async function storeReply(sql: Sql, { intentId, now, request }: Written): Promise<void> {
  await storeIdempotentReply(sql, request, 201, sealedReply, intentId, now)
}
