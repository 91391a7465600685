import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { startPayments } from '../contract-tests/harness/payments.ts'
import type { components } from '../generated/payments.ts'
import type { PaymentProvider } from '../providers/paymentProvider.ts'
import { awaitCreation, resumeCreation } from './chargeCreation.ts'

type Create = components['schemas']['PaymentIntentCreate']

/** What happens while a request waits; set by each test. */
let whileWaiting: () => Promise<void> = async () => undefined
/** What happens before the provider's answer to a creation arrives; set by each test. */
let beforeAnswer: () => Promise<void> = async () => undefined
const bench = await startPayments({
  settings: { PROVIDER_TIMEOUT_MS: '400' }, sleep: () => whileWaiting(),
  toProvider: async (input, init) => {
    const response = await fetch(input, init)
    // Read to its end: what happens meanwhile is no delay of the provider's.
    const answer = await response.text()
    if (init?.method === 'POST' && (input instanceof Request ? input.url : input.toString()).endsWith('/charges')) await beforeAnswer()
    return new Response(answer, response)
  },
})
const { call, clock, creation, database, given, settled, simulator } = bench
const merchant = await given.merchant()
const as = await given.apiKey(merchant)

beforeEach(() => {
  whileWaiting = async () => undefined
  beforeAnswer = async () => undefined
})

interface OperationRow {
  id: string
  intent_id: string
  recovery_point: string
  wait_seconds: number
}

const operationOf = async (referenceId: string): Promise<OperationRow> => {
  const [row] = await database.query((sql) => sql<OperationRow[]>`
    select o.id, o.intent_id, o.recovery_point, round(extract(epoch from o.next_try_at - now()))::int as wait_seconds
    from payments.provider_operations o join payments.payment_intents i on i.id = o.intent_id
    where i.reference_id = ${referenceId} order by o.created_at desc`)
  if (!row) throw new Error(`no operation of ${referenceId}`)
  return row
}

const eventsOf = async (intentId: string): Promise<string[]> => {
  const rows = await database.query((sql) => sql<{ kind: string }[]>`select kind from payments.events where intent_id = ${intentId} order by position`)
  return rows.map(({ kind }) => kind)
}

/** How many charges the simulator holds under an operation's key, and how often it was asked to make one. */
const chargesOf = async ({ id }: OperationRow) => (await simulator.charges({ key: id })).by_key[id] ?? { charges: 0, create_calls: 0 }

const setLease = (operation: OperationRow, seconds: number) => database.query((sql) => sql`
  update payments.provider_operations set lease_until = now() + ${seconds} * interval '1 second' where id = ${operation.id}`)

const body = (): Create & { reference_id: string } => ({ amount_idr: 150_000, allowed_channels: ['va_bank_a'], reference_id: `order-${randomUUID()}` })
const create = (request: Create, key?: string) => call('createPaymentIntent', { as, body: request, ...(key !== undefined && { key }) })
const behave = (behaviour: string, request: { reference_id: string }, options = {}) =>
  simulator.next(behaviour, { merchant_reference: request.reference_id, ...options })
const sweep = ({ id }: OperationRow) => resumeCreation(merchant.tenantId, merchant.id, id, creation)

describe('a twin between the two steps', () => {
  test('waits for the first request and answers the same intent', async () => {
    const request = body()
    const key = randomUUID()
    whileWaiting = () => new Promise((resolve) => setImmediate(resolve))
    await behave('latency', request, { ms: 100 })
    const [first, twin] = await Promise.all([create(request, key), create(request, key)])
    expect([first.status, twin.status]).toEqual([201, 201])
    expect(twin.body).toEqual(first.body)
    expect(await chargesOf(await operationOf(request.reference_id))).toEqual({ charges: 1, create_calls: 1 })
  })

  test('gives up with 503 and Retry-After while the holder lives on, and is not stored', async () => {
    const request = body()
    const key = randomUUID()
    await behave('time-out-before-charging', request)
    expect((await create(request, key)).status).toBe(503)
    const operation = await operationOf(request.reference_id)
    await setLease(operation, 15)
    const twin = await create(request, key)
    expect(twin).toMatchObject({ status: 503, body: { error: 'unavailable' } })
    expect(twin.headers.get('retry-after')).toBe('2')
    await setLease(operation, -1)
    expect((await create(request, key)).status).toBe(201)
  })
})

describe('a twin that takes over late', () => {
  /** A creation that nobody has answered, whose lease lapses once its twin has waited 8.8 s. */
  const lateTwin = async (provider: Partial<PaymentProvider>) => {
    const request = body()
    const key = randomUUID()
    await behave('time-out-before-charging', request)
    await create(request, key)
    const operation = await operationOf(request.reference_id)
    await setLease(operation, 15)
    const since = clock.now()
    whileWaiting = async () => {
      clock.advance(8_800)
      await setLease(operation, -1)
    }
    const known = creation.providers.get('simulator')
    const settings = { ...creation, providers: new Map([['simulator', { ...known, ...provider } as PaymentProvider]]) }
    const scope = { tenantId: merchant.tenantId, ownerId: merchant.id, operationId: 'createPaymentIntent', key, fingerprint: Buffer.alloc(32) }
    const outcome = await awaitCreation(scope, operation.id, settings, since)
    return { operation, outcome, took: clock.now().getTime() - since.getTime() }
  }

  test('asks a silent provider no longer than until the client has waited 9.5 s in all', async () => {
    const { operation, outcome, took } = await lateTwin({
      findCharge: async (_, withinMs = 8000) => {
        clock.advance(withinMs)
        return { outcome: 'unknown', reason: 'time-out' }
      },
    })
    expect([outcome, took]).toEqual(['unknown', 9_500])
    expect(await chargesOf(operation)).toMatchObject({ charges: 0 })
  })

  test('asks for the charge only for as long as is left after the look-up', async () => {
    const { outcome, took } = await lateTwin({
      findCharge: async () => {
        clock.advance(200)
        return { outcome: 'absent' }
      },
      createCharge: async (_, withinMs = 8000) => {
        clock.advance(withinMs)
        return { outcome: 'unknown', reason: 'time-out' }
      },
    })
    expect([outcome, took]).toEqual(['unknown', 9_500])
  })

  test('does not ask for the charge when no time is left, and leaves it to the next request', async () => {
    const asked: number[] = []
    const { operation, outcome } = await lateTwin({
      findCharge: async () => {
        clock.advance(500)
        return { outcome: 'absent' }
      },
      createCharge: async (_, withinMs = 8000) => {
        asked.push(withinMs)
        return { outcome: 'unknown', reason: 'time-out' }
      },
    })
    expect([outcome, asked]).toEqual(['unknown', []])
    const [row] = await database.query((sql) => sql`select lease_until < now() as lapsed from payments.provider_operations where id = ${operation.id}`)
    expect(row).toEqual({ lapsed: true })
  })
})

describe('a crash after the first transaction', () => {
  test('with a key: the next request with it takes over once the lease has lapsed, and finishes the intent', async () => {
    const request = body()
    const key = randomUUID()
    await behave('time-out-before-charging', request)
    await create(request, key)
    const operation = await operationOf(request.reference_id)
    await setLease(operation, 15)
    let looks = 0
    whileWaiting = async () => {
      looks += 1
      if (looks === 3) await setLease(operation, -1)
    }
    const retry = await create(request, key)
    expect(retry.status).toBe(201)
    expect(looks).toBe(3)
    expect(await chargesOf(operation)).toMatchObject({ charges: 1 })
    expect(await eventsOf(operation.intent_id)).toEqual(['payment_intent.created'])
  })

  test('with a key and no retry: the sweep finishes the intent, and a later request gets it', async () => {
    const request = body()
    const key = randomUUID()
    await behave('time-out-before-charging', request)
    await create(request, key)
    const operation = await operationOf(request.reference_id)
    await sweep(operation)
    expect(await eventsOf(operation.intent_id)).toEqual(['payment_intent.created'])
    const retry = await create(request, key)
    expect(retry).toMatchObject({ status: 201, body: { id: operation.intent_id, va_bank: 'bank_a' } })
    expect(retry.headers.get('idempotency-replayed')).toBe('true')
    expect(await chargesOf(operation)).toMatchObject({ charges: 1 })
  })

  test('a lease that has not lapsed is not swept', async () => {
    const request = body()
    await behave('time-out-before-charging', request)
    await create(request, randomUUID())
    const operation = await operationOf(request.reference_id)
    await setLease(operation, 15)
    await sweep(operation)
    expect((await operationOf(request.reference_id)).recovery_point).toBe('started')
  })
})

describe('a time-out', () => {
  test.each(['time-out-after-charging', 'time-out-before-charging', 'error-500'])('%s: 503, then the same key gets the intent, and there is one charge', async (behaviour) => {
    const request = body()
    const key = randomUUID()
    await behave(behaviour, request)
    const lost = await create(request, key)
    expect(lost).toMatchObject({ status: 503, body: { error: 'unavailable' } })
    expect(lost.headers.get('retry-after')).toBeTruthy()
    const operation = await operationOf(request.reference_id)
    expect((await call('getPaymentIntent', { as, params: { id: operation.intent_id } })).status).toBe(404)
    expect(await eventsOf(operation.intent_id)).toEqual([])
    const retry = await create(request, key)
    expect(retry).toMatchObject({ status: 201, body: { id: operation.intent_id } })
    expect(await chargesOf(operation)).toMatchObject({ charges: 1 })
    expect(await eventsOf(operation.intent_id)).toEqual(['payment_intent.created'])
  })

  test('the sweep waits 30 s, 2 min, 10 min, then an hour', async () => {
    const request = body()
    await behave('time-out-before-charging', request, { n: 9 })
    await create(request, randomUUID())
    const waits = [(await operationOf(request.reference_id)).wait_seconds]
    for (let tries = 0; tries < 4; tries += 1) {
      await sweep(await operationOf(request.reference_id))
      waits.push((await operationOf(request.reference_id)).wait_seconds)
    }
    expect(waits).toEqual([30, 120, 600, 3600, 3600])
  })

  test('a slow holder whose operation was taken over commits nothing, and answers what the other made', async () => {
    const request = body()
    const key = randomUUID()
    await behave('latency', request, { ms: 200 })
    const slow = create(request, key)
    let operation: OperationRow | undefined
    while (!operation) operation = await operationOf(request.reference_id).catch(() => undefined)
    await setLease(operation, -1)
    const quick = await create(request, key)
    expect(quick.status).toBe(201)
    expect((await slow).body).toEqual(quick.body)
    expect(await chargesOf(operation)).toMatchObject({ charges: 1 })
    expect(await eventsOf(operation.intent_id)).toEqual(['payment_intent.created'])
  })
})

describe('a callback before the second step', () => {
  test('shows the intent and pays it; the second step adds fields and no event, and answers the intent as it now is', async () => {
    const request = body()
    await behave('callback-before-answer', request)
    beforeAnswer = () => settled()
    const answer = await create(request, randomUUID())
    expect(answer).toMatchObject({ status: 201, body: { status: 'paid', uses: 1, paid_idr: 150_000, late: false, va_bank: 'bank_a' } })
    const operation = await operationOf(request.reference_id)
    expect(await eventsOf(operation.intent_id)).toEqual(['payment_intent.created', 'payment.completed'])
    expect(await call('getPaymentIntent', { as, params: { id: operation.intent_id } })).toMatchObject({ body: answer.body })
  })

  test('when the answer never came: the callback shows the intent, and the same key answers it', async () => {
    const request = body()
    const key = randomUUID()
    await behave('time-out-after-charging', request)
    await create(request, key)
    const operation = await operationOf(request.reference_id)
    const { charges: [charge] } = await simulator.charges({ key: operation.id })
    await settled(simulator.pay(charge?.reference ?? ''))
    expect(await eventsOf(operation.intent_id)).toEqual(['payment_intent.created', 'payment.completed'])
    expect(await create(request, key)).toMatchObject({ status: 201, body: { id: operation.intent_id, status: 'paid', va_bank: 'bank_a' } })
    expect(await eventsOf(operation.intent_id)).toEqual(['payment_intent.created', 'payment.completed'])
    expect(await chargesOf(operation)).toEqual({ charges: 1, create_calls: 1 })
  })

  test('a payment that only the look-up tells of is recorded by the retry', async () => {
    const request = body()
    const key = randomUUID()
    await behave('silent', request)
    await create(request, key)
    const operation = await operationOf(request.reference_id)
    const { charges: [charge] } = await simulator.charges({ key: operation.id })
    // The callback is lost on its way: its credential is unknown for the moment.
    await database.query((sql) => sql`update payments.psp_credentials set provider = 'elsewhere' where id = ${bench.credential.id}`)
    await settled(simulator.pay(charge?.reference ?? ''))
    await database.query((sql) => sql`update payments.psp_credentials set provider = 'simulator' where id = ${bench.credential.id}`)
    expect(await eventsOf(operation.intent_id)).toEqual([])
    expect(await create(request, key)).toMatchObject({ status: 201, body: { status: 'paid' } })
    expect(await eventsOf(operation.intent_id)).toEqual(['payment_intent.created', 'payment.completed'])
  })
})

describe('a retry after a refusal', () => {
  test('with the same key replays it without asking the provider; with a new key asks anew', async () => {
    const request = body()
    const key = randomUUID()
    await behave('decline', request, { code: 'account_blocked', message: 'The account is blocked.' })
    const refused = await create(request, key)
    expect(refused).toMatchObject({ status: 422, body: { error: 'provider_declined', provider: { code: 'account_blocked', message: 'The account is blocked.' } } })
    const operation = await operationOf(request.reference_id)
    const calls = (await chargesOf(operation)).create_calls
    expect((await create(request, key)).body).toEqual(refused.body)
    expect((await chargesOf(operation)).create_calls).toBe(calls)
    expect((await create(request, randomUUID())).status).toBe(201)
    expect(await eventsOf(operation.intent_id)).toEqual([])
  })
})

describe('without a key', () => {
  test.each(['time-out-after-charging', 'time-out-before-charging'])('%s: the sweep withdraws the charge; the intent stays hidden, ends expired, without event', async (behaviour) => {
    const request = body()
    await behave(behaviour, request)
    expect((await create(request)).status).toBe(503)
    const operation = await operationOf(request.reference_id)
    await sweep(operation)
    const [intent] = await database.query((sql) => sql`select status, visible from payments.payment_intents where id = ${operation.intent_id}`)
    expect(intent).toMatchObject({ status: 'expired', visible: false })
    expect((await operationOf(request.reference_id)).recovery_point).toBe('abandoned')
    expect((await simulator.charges({ key: operation.id })).charges.filter(({ status }) => status === 'pending')).toEqual([])
    expect(await eventsOf(operation.intent_id)).toEqual([])
    expect((await call('getPaymentIntent', { as, params: { id: operation.intent_id } })).status).toBe(404)
    // The reference is free again.
    expect((await create(request)).status).toBe(201)
  })

  test('money that arrived before the withdrawal is recorded: the intent appears, paid', async () => {
    const request = body()
    await behave('silent', request)
    await create(request)
    const operation = await operationOf(request.reference_id)
    const { charges: [charge] } = await simulator.charges({ key: operation.id })
    await database.query((sql) => sql`update payments.psp_credentials set provider = 'elsewhere' where id = ${bench.credential.id}`)
    await settled(simulator.pay(charge?.reference ?? ''))
    await database.query((sql) => sql`update payments.psp_credentials set provider = 'simulator' where id = ${bench.credential.id}`)
    await sweep(operation)
    expect(await call('getPaymentIntent', { as, params: { id: operation.intent_id } })).toMatchObject({ status: 200, body: { status: 'paid', paid_idr: 150_000 } })
    expect(await eventsOf(operation.intent_id)).toEqual(['payment_intent.created', 'payment.completed'])
  })
})

test('with a key, a provider silent beyond the deadline: the intent appears expired, and the key answers it', async () => {
  const request = body()
  const key = randomUUID()
  await behave('time-out-before-charging', request)
  await create(request, key)
  const operation = await operationOf(request.reference_id)
  clock.advance(86_400_001)
  await sweep(operation)
  expect(await eventsOf(operation.intent_id)).toEqual(['payment_intent.created', 'payment_intent.expired'])
  expect(await create(request, key)).toMatchObject({ status: 201, body: { id: operation.intent_id, status: 'expired' } })
  expect(await call('getPaymentIntent', { as, params: { id: operation.intent_id } })).toMatchObject({ status: 200, body: { status: 'expired' } })
})
