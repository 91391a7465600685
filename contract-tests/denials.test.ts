import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { CallerKind, Operation } from '../handlers/http/operation.ts'
import { signCallback } from '../providers/callbackSignature.ts'
import { damaged, denialsOf, fresh, scopesOf, withCredential } from './denialList.ts'
import type { RawAnswer } from './harness/call.ts'
import { openedCase } from './harness/cases.ts'
import { asId, claimsFor, operationIds, startEveryService } from './harness/everyOperation.ts'

const every = await startEveryService()
const {
  issuer,
  payments: { given, clock, credential, database },
} = every
const [merchant, sibling, stranger] = await merchants()
const denials = denialsOf(every, merchant)
const operations = operationIds.map((id) => every.of(id).operation)

/** Denials that do not hold for an operation, `<operationId>: <denial>`. The list may only shrink. */
const exempt: readonly string[] = [
  // Identity serves both environments (decision 5.2).
  'getTenant: a token of the other environment',
  'getTenant: an expired token of the other environment',
  'getTenant: a key of the other environment',
  'getTenant: a damaged key of the other environment',
]

/** How the thing that a path names is made: ready for the operation to succeed on it, once. Every operation on one thing of a merchant is here. */
const things: Record<string, () => Promise<Record<string, string>>> = {
  getPaymentIntent: async () => ({ id: await intentOf(merchant) }),
  cancelPaymentIntent: async () => ({ id: await intentOf(merchant) }),
  sandboxCompletePaymentIntent: async () => ({ id: await intentOf(merchant) }),
  sandboxExpirePaymentIntent: async () => ({ id: await intentOf(merchant) }),
  confirmCashPayment: async () => ({ id: await intentOf(merchant) }),
  listPaymentAttempts: async () => ({ id: await intentOf(merchant) }),
  revokeApiKey: async () => ({ id: await keyOf(merchant) }),
  rotateApiKey: async () => ({ id: await keyOf(merchant) }),
  listApiKeyRequests: async () => ({ id: await keyOf(merchant) }),
  getWebhookSubscription: async () => ({ id: await subscriptionOf(merchant) }),
  updateWebhookSubscription: async () => ({ id: await subscriptionOf(merchant) }),
  deleteWebhookSubscription: async () => ({ id: await subscriptionOf(merchant) }),
  testWebhookSubscription: async () => ({ id: await subscriptionOf(merchant) }),
  rotateWebhookSecret: async () => ({ id: await subscriptionOf(merchant) }),
  resendEvents: async () => ({ id: await subscriptionOf(merchant) }),
  getWebhookDelivery: async () => ({ id: await deliveryOf(merchant) }),
  replayWebhookDelivery: async () => ({ id: await deliveryOf(merchant) }),
  getWebhookReplayJob: async () => ({ id: await replayJobOf(merchant) }),
  getEvent: async () => ({ id: await eventOf(merchant) }),
  getCase: async () => ({ id: (await openedCase(every.payments, merchant)).id }),
  transitionCase: async () => ({ id: (await openedCase(every.payments, merchant)).id }),
  setMerchantChannel: async () => ({ id: merchant.id, channel: 'qris' }),
}

describe.each(
  operations
    .filter(({ caller }) => withCredential.includes(caller.kind))
    .map((operation) => [operation.id, operation] as const),
)('%s refuses', (id, operation) => {
  const about = denials.filter(
    ({ name, kinds, when }) =>
      kinds.includes(operation.caller.kind) && (when?.(operation) ?? true) && !exempt.includes(`${id}: ${name}`),
  )

  test.each(about.map((denial) => [denial.name, denial] as const))('%s', async (_, denial) => {
    const as = await denial.credential(operation)
    const before = await rows()
    const answer = await ask(id, as)
    expect(refusal(answer)).toBe(denial.answer)
    if (answer.status === 401) expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/)
    expect(await rows()).toBe(before)
  })

  test('what it allows otherwise', async () => {
    const { as } = await every.accepted(id)
    expect(['401', '403']).not.toContain(refusal(await ask(id, as)).slice(0, 3))
  })
})

describe('the other environment, where both are served,', () => {
  test('is no fault of a token or key of its own', async () => {
    const { operation } = every.of('getTenant')
    expect(
      (await ask('getTenant', await issuer.token(claimsFor(operation, { environment: 'production' })))).status,
    ).toBe(404)
    for (const as of [
      await issuer.token(claimsFor(operation, { environment: 'production', expiresIn: -6 })),
      fresh('production'),
      damaged(fresh('production')),
    ]) {
      expect(refusal(await ask('getTenant', as))).toBe('401 unauthenticated')
    }
  })
})

const onOneThing = operations.filter(
  ({ caller: { kind }, parameters }) =>
    ['merchant', 'console', 'tenant', 'seller'].includes(kind) && parameters.some(({ in: place }) => place === 'path'),
)

describe.each(onOneThing.map((operation) => [operation.id, operation] as const))(
  '%s of somebody else',
  (id, operation) => {
    test('is not told from an unknown one', async () => {
      const make = things[id]
      if (!make) throw new Error(`say in \`things\` how the thing of ${id} is made`)
      const params = await make()
      const unknown = { ...params, id: randomUUID() }
      const { foreign, own } = await callersOf(operation)
      const reference = neutral(await ask(id, own[0], unknown))
      expect(reference.status).toBe(404)
      const before = await rows()
      for (const [name, as] of Object.entries(foreign))
        expect(neutral(await ask(id, as, params)), name).toEqual(reference)
      expect(await rows()).toBe(before)
      const success = Math.min(...operation.responses.keys())
      for (const [index, as] of own.entries())
        expect((await ask(id, as, index === 0 ? params : await make())).status).toBe(success)
    })
  },
)

test('`things` makes nothing that no operation is about', () => {
  expect(Object.keys(things).sort()).toEqual(onOneThing.map(({ id }) => id).sort())
})

/** Who may act on the merchant's things, and who may do the same elsewhere: never the one who may act here. */
async function callersOf(operation: Operation): Promise<{ foreign: Record<string, string>; own: string[] }> {
  const elsewhere = {
    'a user of another tenant': await issuer.token(claimsFor(operation, { tenantId: stranger.tenantId })),
  }
  const administrator = await given.token(merchant, 'tenant_admin', '*')
  if (operation.caller.kind === 'tenant') return { foreign: elsewhere, own: [administrator] }
  const keys = operation.caller.kind === 'merchant'
  const scopes = scopesOf(operation)
  return {
    foreign: {
      ...elsewhere,
      ...(keys && {
        'a key of another merchant of the tenant': await given.apiKey(sibling, { scopes }),
        'a key of another tenant': await given.apiKey(stranger, { scopes }),
      }),
      'a user whose role is held at another merchant': await given.token(
        sibling,
        'merchant_owner',
        `merchant:${sibling.id}`,
      ),
      'a user of another tenant with a role at this merchant': await given.token(
        stranger,
        'merchant_owner',
        `merchant:${merchant.id}`,
      ),
    },
    own: [
      ...(keys ? [await given.apiKey(merchant, { scopes })] : []),
      administrator,
      await given.token(merchant, 'merchant_owner', `merchant:${merchant.id}`),
    ],
  }
}

describe.each(operations.filter(({ caller }) => caller.kind === 'provider').map(({ id }) => id))('%s refuses', (id) => {
  test('a callback that is not signed under the credential in its path', async () => {
    const request = await every.accepted(id)
    const body = Buffer.from(String(request.body))
    const signatures = {
      'no signature': undefined,
      'an empty one': '',
      'a malformed one': 't=1,v1=xyz',
      'another secret': signCallback(randomUUID(), body, clock.now()),
      'other bytes': signCallback(credential.secret, Buffer.concat([body, body]), clock.now()),
      old: signCallback(credential.secret, body, new Date(clock.now().getTime() - 301_000)),
      'of the future': signCallback(credential.secret, body, new Date(clock.now().getTime() + 301_000)),
    }
    for (const [name, signature] of Object.entries(signatures)) {
      const answer = await every
        .of(id)
        .service.send(asId(id), {
          ...request,
          headers: {
            'Content-Type': 'application/json',
            ...(signature !== undefined && { 'X-Simulator-Signature': signature }),
          },
        })
      expect(refusal(answer), name).toBe('401 unauthenticated')
    }
  })

  test('an API key in place of a signature', async () => {
    const { headers, ...request } = await every.accepted(id)
    expect(headers).toHaveProperty('X-Simulator-Signature')
    expect(refusal(await every.of(id).service.send(asId(id), { ...request, as: await given.apiKey(merchant) }))).toBe(
      '401 unauthenticated',
    )
  })
})

test('the exemptions may only shrink, and each is of an operation and a denial that there is', () => {
  expect(exempt.length).toBeLessThanOrEqual(4)
  for (const entry of exempt) {
    const [id, name] = entry.split(': ')
    expect(operationIds).toContain(id)
    expect(denials.map((denial) => denial.name)).toContain(name)
  }
})

test('every kind of caller that an operation declares is looked at', () => {
  const looked = new Set<CallerKind>([...withCredential, 'provider', 'public'])
  expect([...new Set(operations.map(({ caller }) => caller.kind))].filter((kind) => !looked.has(kind))).toEqual([])
})

async function ask(id: string, as: string | undefined, params?: Record<string, string>): Promise<RawAnswer> {
  const { as: _, ...request } = await every.accepted(id)
  return every.of(id).service.send(asId(id), { ...request, ...(params && { params }), ...(as !== undefined && { as }) })
}

function refusal({ status, body }: RawAnswer): string {
  return `${status} ${String(body.error)}`
}

/** An answer without what differs between any two. */
function neutral({ status, text, headers }: RawAnswer): { status: number; text: string; headers: string[] } {
  return {
    status,
    text: text.replace(/"request_id":"[^"]*"/, ''),
    headers: [...headers]
      .filter(([name]) => !/^(date|x-request-id|ratelimit-.*)$/.test(name))
      .map(([name, value]) => `${name}: ${value}`),
  }
}

async function merchants() {
  const first = await given.merchant()
  return [first, await given.merchant({ tenantId: first.tenantId }), await given.merchant()] as const
}

async function intentOf(owner: typeof merchant): Promise<string> {
  const answer = await every.payments.call('createPaymentIntent', {
    as: await given.apiKey(owner),
    body: { amount_idr: 150_000, allowed_channels: ['qris', 'cash'] },
  })
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body.id
}

async function keyOf(owner: typeof merchant): Promise<string> {
  const answer = await every.payments.call('createApiKey', { as: await ownerOf(owner), body: { name: 'Checkout' } })
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body.id
}

/** The receiver is one that is never sent to: a test of it succeeds and tells so. */
async function subscriptionOf(owner: typeof merchant, events = ['payment.completed']): Promise<string> {
  const answer = await every.payments.call('createWebhookSubscription', {
    as: await ownerOf(owner),
    body: { url: 'https://localhost/webhooks', events },
  })
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body.id
}

async function deliveryOf(owner: typeof merchant): Promise<string> {
  const subscriptionId = await subscriptionOf(owner, ['payment_intent.created'])
  await intentOf(owner)
  const answer = await every.payments.call('listWebhookDeliveries', {
    as: await ownerOf(owner),
    query: { subscription_id: subscriptionId },
  })
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  const [delivery] = answer.body.deliveries
  if (!delivery) throw new Error('the event has no delivery')
  return delivery.id
}

async function replayJobOf(owner: typeof merchant): Promise<string> {
  const answer = await every.payments.call('resendEvents', {
    as: await ownerOf(owner),
    params: { id: await subscriptionOf(owner) },
    body: { since: '2026-01-01T00:00:00Z' },
  })
  if (answer.status !== 202) throw new Error(JSON.stringify(answer.body))
  return answer.body.id
}

async function eventOf(owner: typeof merchant): Promise<string> {
  await intentOf(owner)
  const answer = await every.payments.call('listEvents', { as: await ownerOf(owner) })
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  const [event] = answer.body.events
  if (!event) throw new Error('the intent has no event')
  return event.id
}

function ownerOf(owner: typeof merchant): Promise<string> {
  return given.token(owner, 'merchant_owner', `merchant:${owner.id}`)
}

/** What requests could leave behind; every sensitive write leaves an audit event. */
async function rows(): Promise<number> {
  const [row] = await database.query(
    (sql) => sql<{ n: number }[]>`
    select (select count(*) from payments.payment_intents) + (select count(*) from payments.idempotency_keys)
      + (select count(*) from payments.provider_callbacks) + (select count(*) from payments.payment_attempts)
      + (select count(*) from payments.events) + (select count(*) from payments.audit_events)
      + (select count(*) from payments.webhook_subscriptions) + (select count(*) from payments.webhook_replays) as n`,
  )
  return Number(row?.n)
}
