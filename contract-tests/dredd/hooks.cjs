// Prepares each documented success by its operationId: state, credentials, path. Nothing is skipped.
const { readFileSync, writeFileSync } = require('node:fs')
const { randomUUID } = require('node:crypto')
const hooks = require('hooks')
const { TOTP } = require('otpauth')

const system = JSON.parse(readFileSync(process.env.BAYAR_CONTRACT_SYSTEM, 'utf8'))
const { urls } = system

async function ask(url, { as, body, method = body ? 'POST' : 'GET' } = {}) {
  const response = await fetch(url, {
    method,
    headers: { ...(as && { Authorization: `Bearer ${as}` }), ...(body && { 'Content-Type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${url} answered ${response.status} ${text}`)
  return text ? JSON.parse(text) : undefined
}

const firstStep = ({ email, password }) => ask(`${urls.identity}/v1/auth/login`, { body: { email, password, environment: 'sandbox' } })
const secondStep = async (owner) => {
  const { mfa_token } = await firstStep(owner)
  return { mfa_token, code: new TOTP({ secret: owner.totpSecret }).generate() }
}
const newSession = async (owner) => ask(`${urls.identity}/v1/auth/login/totp`, { body: await secondStep(owner) })
const intents = '/v1/payments/intents'
const settings = '/v1/payments/settings'
const newIntent = (body = { allowed_channels: ['va_bank_a'] }) => ask(`${urls.payments}${intents}`, {
  as: system.apiKey, body: { amount_idr: 150000, reference_id: `contract-${randomUUID()}`, ...body },
})
const newPayment = async () => {
  const { id, reference_id } = await newIntent()
  await ask(`${urls.payments}${intents}/${id}/sandbox-complete`, { as: system.apiKey, method: 'POST' })
  return { id, reference_id }
}
const newKey = () => ask(`${urls.payments}${settings}/api-keys`, { as: system.tokens.owner, body: { name: 'Contract' } })
const newSubscription = (events = ['settlement.completed'], url = system.receiver.url) => ask(`${urls.payments}${settings}/webhooks`, {
  as: system.tokens.owner, body: { url, events },
})
const newDelivery = async () => {
  const { id } = await newSubscription(['payment_intent.created'])
  await newIntent()
  const { deliveries: [delivery] } = await ask(`${urls.payments}${settings}/webhook-deliveries?subscription_id=${id}`, { as: system.tokens.owner })
  return delivery
}
const newResend = async () => ask(`${urls.payments}${settings}/webhooks/${(await newSubscription()).id}/resend`, {
  as: system.tokens.owner, body: { since: new Date(Date.now() - 3_600_000).toISOString() },
})
/** Asks again until there is an entry: requests are recorded after their answers. */
async function untilListed(url, as, member) {
  for (let tries = 0; tries < 50; tries += 1) {
    const entries = (await ask(url, { as }))[member]
    if (entries.length > 0) return entries
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  throw new Error(`${url} stays empty`)
}
/** What is sent to where nothing listens, by a subscription that is then deleted. */
async function newDeadLetter() {
  const { id } = await newSubscription(['payment_intent.created'], 'https://localhost:1/')
  await newIntent()
  await ask(`${urls.payments}${settings}/webhooks/${id}`, { as: system.tokens.owner, method: 'DELETE' })
  const [letter] = await untilListed(`${urls.payments}${settings}/webhook-dead-letters?subscription_id=${id}`, system.tokens.owner, 'deliveries')
  return letter
}
/** A payment that comes after its intent was paid. */
async function newCase() {
  const { id, reference_id } = await newPayment()
  const { url, apiKey: as } = system.simulator
  const { charges: [{ reference }] } = await ask(`${url}/control/charges?merchant_reference=${reference_id}`, { as })
  await ask(`${url}/control/charges/${reference}/pay`, { as, body: { force: true } })
  const [opened] = await untilListed(`${urls.payments}/v1/payments/cases?intent_id=${id}`, system.tokens.owner, 'cases')
  return opened
}
const authorize = (transaction, credential) => {
  transaction.request.headers.Authorization = `Bearer ${credential}`
}
const send = (transaction, body) => {
  transaction.request.body = JSON.stringify(body)
}

const prepare = {
  createPaymentIntent(transaction) {
    authorize(transaction, system.apiKey)
    transaction.request.headers['Idempotency-Key'] = randomUUID()
    send(transaction, { ...JSON.parse(transaction.request.body), reference_id: `contract-${randomUUID()}` })
  },
  async listPaymentIntents(transaction) {
    authorize(transaction, system.apiKey)
    const { reference_id } = await newIntent()
    transaction.fullPath = `${intents}?reference_id=${reference_id}&status=open&channel=va_bank_a&page=1&limit=20`
  },
  async getPaymentIntent(transaction) {
    authorize(transaction, system.apiKey)
    transaction.fullPath = `${intents}/${(await newIntent()).id}`
  },
  async cancelPaymentIntent(transaction) {
    authorize(transaction, system.apiKey)
    transaction.request.headers['Idempotency-Key'] = randomUUID()
    transaction.fullPath = `${intents}/${(await newIntent()).id}/cancel`
  },
  async sandboxCompletePaymentIntent(transaction) {
    authorize(transaction, system.apiKey)
    transaction.fullPath = `${intents}/${(await newIntent()).id}/sandbox-complete`
  },
  async sandboxExpirePaymentIntent(transaction) {
    authorize(transaction, system.apiKey)
    transaction.fullPath = `${intents}/${(await newIntent()).id}/sandbox-expire`
  },
  async completeThreeDsChallenge(transaction) {
    const { id } = await newIntent({ allowed_channels: ['card_3ds'] })
    transaction.fullPath = transaction.fullPath.replace(/[^/]+(?=\/3ds-callback)/, id)
  },
  async confirmCashPayment(transaction) {
    authorize(transaction, system.tokens.owner)
    transaction.request.headers['Idempotency-Key'] = randomUUID()
    transaction.fullPath = `${intents}/${(await newIntent({ channel: 'cash' })).id}/confirm-cash`
  },
  async listPaymentAttempts(transaction) {
    authorize(transaction, system.apiKey)
    transaction.fullPath = `${intents}/${(await newIntent()).id}/attempts`
  },
  async listPayments(transaction) {
    authorize(transaction, system.apiKey)
    const { reference_id } = await newPayment()
    transaction.fullPath = `/v1/payments?reference_id=${reference_id}&status=succeeded&channel=va_bank_a`
  },
  async getPublicCheckout(transaction) {
    transaction.fullPath = `/v1/public/payments/intents/${(await newIntent()).shortcode}`
  },
  async choosePublicCheckoutChannel(transaction) {
    const { shortcode } = await newIntent({ allowed_channels: ['qris', 'va_bank_a'] })
    transaction.fullPath = `/v1/public/payments/intents/${shortcode}/attempts`
  },
  async getPublicCheckoutStatus(transaction) {
    transaction.fullPath = `/v1/public/payments/intents/${(await newIntent()).shortcode}/status`
  },
  async recordVaCopy(transaction) {
    transaction.fullPath = `/v1/public/payments/intents/${(await newIntent()).shortcode}/va-copies`
  },
  async listCases(transaction) {
    authorize(transaction, system.tokens.owner)
    const { intent_id } = await newCase()
    transaction.fullPath = `/v1/payments/cases?intent_id=${intent_id}&kind=overpayment&status=open&page=1&limit=20`
  },
  async getCase(transaction) {
    authorize(transaction, system.tokens.owner)
    transaction.fullPath = `/v1/payments/cases/${(await newCase()).id}`
  },
  async transitionCase(transaction) {
    authorize(transaction, system.tokens.owner)
    transaction.fullPath = `/v1/payments/cases/${(await newCase()).id}`
  },
  createApiKey(transaction) {
    authorize(transaction, system.tokens.owner)
  },
  async listApiKeys(transaction) {
    authorize(transaction, system.tokens.owner)
    await newKey()
    transaction.fullPath = `${settings}/api-keys?merchant_id=${system.merchantId}`
  },
  async revokeApiKey(transaction) {
    authorize(transaction, system.tokens.owner)
    transaction.fullPath = `${settings}/api-keys/${(await newKey()).id}`
  },
  async rotateApiKey(transaction) {
    authorize(transaction, system.tokens.owner)
    transaction.fullPath = `${settings}/api-keys/${(await newKey()).id}/rotate`
  },
  async listApiKeyRequests(transaction) {
    const { owner } = system.tokens
    authorize(transaction, owner)
    const { id, key } = await newKey()
    await ask(`${urls.payments}/v1/me`, { as: key })
    const path = `${settings}/api-keys/${id}/requests`
    await untilListed(urls.payments + path, owner, 'requests')
    transaction.fullPath = path
  },
  createWebhookSubscription(transaction) {
    authorize(transaction, system.tokens.owner)
    send(transaction, { ...JSON.parse(transaction.request.body), url: system.receiver.url })
  },
  async listWebhookSubscriptions(transaction) {
    authorize(transaction, system.tokens.owner)
    await newSubscription()
    transaction.fullPath = `${settings}/webhooks?merchant_id=${system.merchantId}`
  },
  async getWebhookSubscription(transaction) {
    authorize(transaction, system.tokens.owner)
    transaction.fullPath = `${settings}/webhooks/${(await newSubscription()).id}`
  },
  async updateWebhookSubscription(transaction) {
    authorize(transaction, system.tokens.owner)
    transaction.fullPath = `${settings}/webhooks/${(await newSubscription()).id}`
  },
  async deleteWebhookSubscription(transaction) {
    authorize(transaction, system.tokens.owner)
    transaction.fullPath = `${settings}/webhooks/${(await newSubscription()).id}`
  },
  async testWebhookSubscription(transaction) {
    authorize(transaction, system.tokens.owner)
    transaction.fullPath = `${settings}/webhooks/${(await newSubscription()).id}/test`
  },
  async rotateWebhookSecret(transaction) {
    authorize(transaction, system.tokens.owner)
    transaction.request.headers['Idempotency-Key'] = randomUUID()
    transaction.fullPath = `${settings}/webhooks/${(await newSubscription()).id}/rotate-secret`
  },
  async resendEvents(transaction) {
    authorize(transaction, system.tokens.owner)
    transaction.request.headers['Idempotency-Key'] = randomUUID()
    transaction.fullPath = `${settings}/webhooks/${(await newSubscription(['payment.completed'])).id}/resend`
    send(transaction, { since: new Date(Date.now() - 3_600_000).toISOString(), kinds: ['payment.completed'] })
  },
  async listWebhookDeliveries(transaction) {
    authorize(transaction, system.tokens.owner)
    const { subscription_id, event_id } = await newDelivery()
    transaction.fullPath = `${settings}/webhook-deliveries?subscription_id=${subscription_id}&event_id=${event_id}&event=payment_intent.created&page=1&limit=20`
  },
  async getWebhookDelivery(transaction) {
    authorize(transaction, system.tokens.owner)
    transaction.fullPath = `${settings}/webhook-deliveries/${(await newDelivery()).id}`
  },
  async replayWebhookDelivery(transaction) {
    authorize(transaction, system.tokens.owner)
    transaction.request.headers['Idempotency-Key'] = randomUUID()
    transaction.fullPath = `${settings}/webhook-deliveries/${(await newDelivery()).id}/replay`
  },
  async listDeadWebhookDeliveries(transaction) {
    authorize(transaction, system.tokens.owner)
    transaction.fullPath = `${settings}/webhook-dead-letters?subscription_id=${(await newDeadLetter()).subscription_id}`
  },
  async replayDeadWebhookDeliveries(transaction) {
    authorize(transaction, system.tokens.owner)
    transaction.request.headers['Idempotency-Key'] = randomUUID()
    send(transaction, { subscription_id: (await newSubscription()).id, event: 'settlement.completed', created_from: new Date().toISOString() })
  },
  async getWebhookReplayJob(transaction) {
    authorize(transaction, system.tokens.owner)
    transaction.fullPath = `${settings}/webhook-replays/${(await newResend()).id}`
  },
  getWebhookEventCatalogue(transaction) {
    authorize(transaction, system.tokens.owner)
  },
  getWebhookRetryPolicy(transaction) {
    authorize(transaction, system.tokens.owner)
  },
  async listEvents(transaction) {
    authorize(transaction, system.apiKey)
    await newIntent()
    transaction.fullPath = '/v1/payments/events?kind=payment_intent.created'
  },
  async getEvent(transaction) {
    authorize(transaction, system.apiKey)
    await newIntent()
    const { events: [event] } = await ask(`${urls.payments}/v1/payments/events`, { as: system.apiKey })
    transaction.fullPath = `/v1/payments/events/${event.id}`
  },
  listPaymentChannels(transaction) {
    authorize(transaction, system.apiKey)
    transaction.fullPath = `/v1/payments/channels?merchant_id=${system.merchantId}`
  },
  setMerchantChannel(transaction) {
    authorize(transaction, system.tokens.administrator)
    transaction.fullPath = `/v1/payments/merchants/${system.merchantId}/channels/qris`
  },
  async receivePspWebhook(transaction) {
    const { signCallback } = await import('../../providers/callbackSignature.ts')
    const { reference_id } = await newIntent()
    const { charges: [charge] } = await ask(
      `${system.simulator.url}/control/charges?merchant_reference=${reference_id}`, { as: system.simulator.apiKey })
    const { key, reference, amount_idr, channel } = charge
    const body = JSON.stringify({
      event_id: randomUUID(), event: 'charge.paid', key, reference, merchant_reference: reference_id, channel, status: 'paid', currency: 'IDR', amount_idr,
      payment_reference: `${reference}-1`, completed_at: new Date().toISOString(), decline: null, payer: null,
    })
    transaction.fullPath = `/v1/inbound/psp/simulator/${system.callbacks.credentialId}`
    transaction.request.body = body
    transaction.request.headers['X-Simulator-Signature'] = signCallback(system.callbacks.secret, Buffer.from(body), new Date())
  },
  getMe(transaction) {
    authorize(transaction, system.apiKey)
  },
  logIn(transaction) {
    const { email, password } = system.owners[0]
    send(transaction, { email, password })
  },
  async completeLogIn(transaction) {
    send(transaction, await secondStep(system.owners[1]))
  },
  async refreshToken(transaction) {
    send(transaction, { refresh_token: (await newSession(system.owners[2])).refresh_token })
  },
  async logOut(transaction) {
    send(transaction, { refresh_token: (await newSession(system.owners[3])).refresh_token })
  },
  issueServiceToken(transaction) {
    const body = { grant_type: 'client_credentials', ...system.serviceClient }
    const isForm = transaction.request.headers['Content-Type']?.startsWith('application/x-www-form-urlencoded')
    transaction.request.body = isForm ? new URLSearchParams(body).toString() : JSON.stringify(body)
  },
  async getTenant(transaction) {
    const body = { grant_type: 'client_credentials', ...system.serviceClient }
    const { access_token } = await ask(`${urls.identity}/v1/oauth/token`, { body })
    authorize(transaction, access_token)
    transaction.fullPath = `/v1/internal/tenants/${system.tenantId}`
  },
}

hooks.beforeEach(async (transaction, done) => {
  try {
    await prepare[transaction.origin.actionName]?.(transaction)
  } catch (error) {
    transaction.fail = `cannot be prepared: ${error.message}`
  }
  done()
})

hooks.afterAll((transactions, done) => {
  const results = transactions.map(({ name, origin, expected, skip, fail, test, real }) => ({
    name, operationId: origin.actionName, status: Number(expected.statusCode), passed: !skip && !fail && test?.status === 'pass',
    reason: skip ? 'skipped' : fail || `${test?.message ?? ''} ${real?.statusCode ?? 'no answer'} ${real?.body ?? ''}`.trim(),
  }))
  writeFileSync(process.env.BAYAR_CONTRACT_RESULTS, JSON.stringify(results))
  done()
})
