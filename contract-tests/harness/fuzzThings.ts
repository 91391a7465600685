import { randomBytes, randomUUID, scryptSync } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import { insertLogInChallenge } from '../../db/identity/logInChallenges.ts'
import { putTotpDevice } from '../../db/identity/totpDevices.ts'
import { insertUser } from '../../db/identity/users.ts'
import { channelCodes } from '../../domain/channels.ts'
import { digestOfToken, newOpaqueToken } from '../../domain/opaqueTokens.ts'
import { totpSeedIdentity } from '../../domain/totp.ts'
import { eventKinds } from '../../domain/webhookEvents.ts'
import { defaultScopes } from '../../generated/roles.ts'
import type { IdentityBench } from '../../handlers/identity/identityBench.ts'
import type { EveryOperation } from './everyOperation.ts'
import type { Merchant } from './given.ts'
import { intentActs } from './intentActs.ts'
import { openedCase } from './cases.ts'
import type { JudgedOperation } from './documentJudge.ts'
import type { RequestSources } from './fuzzRequests.ts'

/** Makes what `{{thing}}` stands for in the requests of one operation. */
export interface Things {
  merchant: Merchant
  stranger: Merchant
  /** A filler of texts for one request: a thing is made when it is first named. */
  filler(): (text: string) => Promise<string>
}

type Makers = Record<string, (made: (name: string) => Promise<string>) => Promise<string>>

/** Merchants of their own for one operation, so that its requests find the same whatever ran before. */
export async function thingsFor(every: EveryOperation, identity: IdentityBench, receiverUrl: string): Promise<Things> {
  const { given } = every.payments
  const [merchant, stranger] = [await given.merchant(), await given.merchant()]
  const makers: Makers = {
    ...(await thingsOf(every, merchant, receiverUrl, '')),
    ...(await thingsOf(every, stranger, receiverUrl, 'other-')),
    ...identityThings(identity),
  }
  return {
    merchant,
    stranger,
    filler() {
      const made = new Map<string, Promise<string>>()
      const make = (name: string): Promise<string> => {
        const thing = made.get(name) ?? (makers[name] ? makers[name](make) : Promise.resolve(`{{${name}}}`))
        made.set(name, thing)
        return thing
      }
      return async (text) => {
        const names = new Set([...text.matchAll(/\{\{([\w-]+)\}\}/g)].map(([, name = '']) => name))
        let filled = text
        for (const name of names) filled = filled.replaceAll(`{{${name}}}`, await make(name))
        return filled
      }
    },
  }
}

async function thingsOf(
  every: EveryOperation,
  merchant: Merchant,
  receiverUrl: string,
  prefix: string,
): Promise<Makers> {
  const { call, credential, database, given, send } = every.payments
  const as = await given.apiKey(merchant)
  const owner = await given.token(merchant, 'merchant_owner', `merchant:${merchant.id}`)
  const { created } = intentActs(every.payments, as)
  const intent = (channels: string[]) => async () => {
    const { id, shortcode } = await created({
      amount_idr: 150_000,
      allowed_channels: channels,
      metadata: { order_id: '1042' },
      reference_id: `order-${randomUUID()}`,
    })
    return `${id} ${shortcode}`
  }
  const half =
    (whole: string, at: number): Makers[string] =>
    async (made) =>
      (await made(`${prefix}${whole}`)).split(' ')[at] ?? ''
  const moved =
    (
      whole: string,
      operation: 'cancelPaymentIntent' | 'sandboxCompletePaymentIntent' | 'sandboxExpirePaymentIntent',
    ): Makers[string] =>
    async () => {
      const text = await intent(['va_bank_a'])()
      const answer = await send(operation, { as, params: { id: text.split(' ')[0] ?? '' } })
      if (answer.status !== 200) throw new Error(`${whole}: ${operation} answered ${answer.status}`)
      return text
    }
  const intents: Makers = {
    any: intent(['qris', 'cash', 'va_bank_a']),
    va: intent(['va_bank_a']),
    cash: intent(['cash']),
    card: intent(['card_3ds']),
    paid: moved('paid', 'sandboxCompletePaymentIntent'),
    cancelled: moved('cancelled', 'cancelPaymentIntent'),
    expired: moved('expired', 'sandboxExpirePaymentIntent'),
  }
  const ofIntent =
    (find: (intentId: string) => Promise<readonly { id: string }[]>): Makers[string] =>
    async (made) => {
      const [first] = await find(await made(`${prefix}va-intent`))
      return first ? first.id : Promise.reject(new Error('there is no such row'))
    }
  const makers: Makers = {
    ...intents,
    ...Object.fromEntries(
      Object.keys(intents).flatMap((name) => [
        [`${name}-intent`, half(name, 0)],
        [`${name}-shortcode`, half(name, 1)],
      ]),
    ),
    merchant: () => Promise.resolve(merchant.id),
    // Its channels are switched: the other things need those of their merchant.
    'switched-merchant': async () => (await given.merchant({ tenantId: merchant.tenantId })).id,
    customer: () => given.customer(merchant),
    'psp-credential': () => Promise.resolve(credential.id),
    'operation-key': ofIntent((id) =>
      database.query(
        (sql) => sql<{ id: string }[]>`select id from payments.provider_operations where intent_id = ${id}`,
      ),
    ),
    attempt: ofIntent((id) =>
      database.query((sql) => sql<{ id: string }[]>`select id from payments.payment_attempts where intent_id = ${id}`),
    ),
    event: ofIntent((id) =>
      database.query((sql) => sql<{ id: string }[]>`select id from payments.events where intent_id = ${id}`),
    ),
    webhook: async () => {
      const answer = await call('createWebhookSubscription', {
        as: owner,
        body: { url: receiverUrl, events: ['payment.completed'] },
      })
      return answer.status === 201 ? answer.body.id : Promise.reject(new Error(JSON.stringify(answer.body)))
    },
    delivery: async () => {
      const subscription = await call('createWebhookSubscription', {
        as: owner,
        body: { url: receiverUrl, events: ['payment_intent.created'] },
      })
      if (subscription.status !== 201) throw new Error(JSON.stringify(subscription.body))
      await intent(['va_bank_a'])()
      const listed = await call('listWebhookDeliveries', { as: owner, query: { subscription_id: subscription.body.id } })
      const [delivery] = listed.status === 200 ? listed.body.deliveries : []
      return delivery ? delivery.id : Promise.reject(new Error('the event has no delivery'))
    },
    'replay-job': async (made) => {
      const answer = await call('resendEvents', {
        as: owner,
        params: { id: await made(`${prefix}webhook`) },
        body: { since: '2026-01-01T00:00:00Z' },
      })
      return answer.status === 202 ? answer.body.id : Promise.reject(new Error(JSON.stringify(answer.body)))
    },
    case: async () => (await openedCase(every.payments, merchant)).id,
    'api-key': async () => {
      const answer = await call('createApiKey', { as: owner, body: { name: 'Checkout' } })
      return answer.status === 201 ? answer.body.id : Promise.reject(new Error(JSON.stringify(answer.body)))
    },
  }
  return Object.fromEntries(Object.entries(makers).map(([name, make]) => [`${prefix}${name}`, make]))
}

/**
 * Users and challenges, written straight into the database: a password of the usual strength costs a fifth of a second
 * each time, and a user can complete one log-in in half a minute.
 */
function identityThings({ call, clock, database, runtime, sealing, seeded }: IdentityBench): Makers {
  const { client_id, client_secret } = seeded.clients.payments
  const password = randomBytes(12).toString('base64url')
  const salt = randomBytes(16)
  const text = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '')
  const derived = scryptSync(password, salt, 32, { N: 2 ** 10, r: 8, p: 1 })
  const passwordHash = `$scrypt$ln=10,r=8,p=1$${text(salt)}$${text(derived)}`
  const user = async (): Promise<{ id: string; email: string }> => {
    const id = randomUUID()
    const email = `user-${id}@demo.example`
    await database.query((sql) => insertUser(sql, { id, tenantId: seeded.tenant_id, email, passwordHash }, clock.now()))
    return { id, email }
  }
  return {
    email: async () => (await user()).email,
    password: () => Promise.resolve(password),
    mfa: async () => {
      const [{ id: userId }, secret, token] = [await user(), new Secret(), newOpaqueToken('mfa', runtime)]
      const sealed = sealing.seal(Buffer.from(secret.bytes), totpSeedIdentity(userId), randomBytes(12))
      await database.query((sql) => putTotpDevice(sql, userId, sealed, clock.now()))
      const expiresAt = new Date(clock.now().getTime() + 60_000)
      await database.query((sql) =>
        insertLogInChallenge(sql, { tokenDigest: digestOfToken(token), userId, environment: 'sandbox', expiresAt }),
      )
      return `${token} ${new TOTP({ secret }).generate({ timestamp: clock.now().getTime() })}`
    },
    'refresh-token': async () => {
      const answer = await call('logIn', { body: { email: (await user()).email, password } })
      if (answer.status !== 200 || answer.body.refresh_token === null)
        throw new Error(`logIn answered ${answer.status}`)
      return answer.body.refresh_token
    },
    'mfa-token': async (made) => (await made('mfa')).split(' ')[0] ?? '',
    'mfa-code': async (made) => (await made('mfa')).split(' ')[1] ?? '',
    'client-id': () => Promise.resolve(client_id),
    'client-secret': () => Promise.resolve(client_secret),
    tenant: () => Promise.resolve(seeded.tenant_id),
  }
}

const intentNames = ['any', 'va', 'cash', 'card', 'paid', 'cancelled', 'expired']
const [anyIntents, anyShortcodes] = ['intent', 'shortcode'].map((part) =>
  intentNames.map((name) => `{{${name}-${part}}}`),
) as [string[], string[]]

/** Bodies that succeed where the example of the document could not: it names what does not exist. */
const bodies: Record<string, Record<string, unknown>[]> = {
  createPaymentIntent: [
    { amount_idr: 150_000, allowed_channels: ['qris'] },
    { amount_idr: 150_000, channel: 'va_bank_a' },
    { amount_idr: 150_000, allowed_channels: ['qris', 'cash'] },
  ],
  logIn: [{ email: '{{email}}', password: '{{password}}' }],
  completeLogIn: [{ mfa_token: '{{mfa-token}}', code: '{{mfa-code}}' }],
  refreshToken: [{ refresh_token: '{{refresh-token}}' }],
  logOut: [{ refresh_token: '{{refresh-token}}' }],
  issueServiceToken: [
    { grant_type: 'client_credentials', client_id: '{{client-id}}', client_secret: '{{client-secret}}' },
  ],
  replayDeadWebhookDeliveries: [{}],
  receivePspWebhook: [
    { event_id: 'evt-1', key: '{{operation-key}}', reference: 'SIM-1', status: 'paid', amount_idr: 150_000 },
  ],
}

/** The state of an intent in which an operation succeeds. */
const needs: Record<string, string> = {
  completeThreeDsChallenge: 'card',
  confirmCashPayment: 'cash',
  recordVaCopy: 'va',
}

/** What an operation's requests are made from, but for its credentials. */
export function sourcesOf(
  { operationId, path, requestBody }: JudgedOperation,
  codes: readonly string[],
): Omit<RequestSources, 'good' | 'bad'> {
  const media = requestBody?.content['application/json']
  const examples = [
    ...(media?.example === undefined ? [] : [media.example]),
    ...Object.values(media?.examples ?? {}).map(({ value }) => value),
  ]
  const [things, others] = pathThings(operationId, path)
  return {
    bodies: media ? ((bodies[operationId] ?? examples) as Record<string, unknown>[]) : [],
    others: others === undefined ? {} : { id: others },
    truths: {
      merchant_id: ['{{merchant}}'],
      customer_id: ['{{customer}}'],
      attempt_id: ['{{attempt}}'],
      auth_code: codes,
      channel: channelCodes,
      'allowed_channels[]': channelCodes,
      'scopes[]': defaultScopes,
      'events[]': eventKinds,
      url: ['https://shop.example/hooks'],
      kind: eventKinds,
      event: eventKinds,
      'kinds[]': ['payment.completed'],
      since: ['2026-01-01T00:00:00Z'],
      subscription_id: ['{{webhook}}'],
      event_id: ['{{event}}'],
      intent_id: ['{{any-intent}}'],
      search: ['order', '1042', '%', '_'],
      status: ['open', 'paid'],
      amount_idr: [150_000, 111_011, 111_012, 111_013, 111_014, 111_015, 111_016],
      provider: ['simulator'],
      credentialId: ['{{psp-credential}}'],
      tenantId: ['{{tenant}}'],
      expires_at: ['2027-01-01T00:00:00Z'],
      expires_in_seconds: [900],
      return_url: ['https://shop.example/orders/1042'],
      reference_id: ['order-1042'],
      shortcode: withFirst(anyShortcodes, `{{${needs[operationId] ?? 'any'}-shortcode}}`),
      id: things,
    },
  }
}

/** What the `id` of a path names, the first so that the operation succeeds, and what it must not lead to. */
function pathThings(operationId: string, path: string): [string[], string[]?] {
  if (path.includes('/payments/merchants/')) return [['{{switched-merchant}}'], ['{{other-merchant}}']]
  if (path.includes('/settings/api-keys/')) return [['{{api-key}}'], ['{{other-api-key}}']]
  if (path.includes('/settings/webhooks/')) return [['{{webhook}}'], ['{{other-webhook}}']]
  if (path.includes('/settings/webhook-deliveries/')) return [['{{delivery}}'], ['{{other-delivery}}']]
  if (path.includes('/settings/webhook-replays/')) return [['{{replay-job}}'], ['{{other-replay-job}}']]
  if (path.includes('/payments/cases/')) return [['{{case}}'], ['{{other-case}}']]
  if (path.includes('/payments/events/')) return [['{{event}}'], ['{{other-event}}']]
  if (path.includes('/payments/intents/')) {
    const own = withFirst(anyIntents, `{{${needs[operationId] ?? 'any'}-intent}}`)
    return operationId === 'completeThreeDsChallenge' ? [own] : [own, ['{{other-any-intent}}', '{{other-va-intent}}']]
  }
  return [[]]
}

function withFirst(names: readonly string[], first: string): string[] {
  return [first, first, first, first, ...names]
}
