// Prepares each documented success by its operationId: state, credentials, path. Nothing is skipped.
const { readFileSync, writeFileSync } = require('node:fs')
const { randomUUID } = require('node:crypto')
const hooks = require('hooks')

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
  return JSON.parse(text)
}

const firstStep = ({ email, password }) => ask(`${urls.identity}/v1/auth/login`, { body: { email, password, environment: 'sandbox' } })
const newIntent = () => ask(`${urls.payments}/v1/payments/intents`, {
  as: system.apiKey, body: { amount_idr: 150000, allowed_channels: ['va_bank_a'], reference_id: `contract-${randomUUID()}` },
})
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
  async getPaymentIntent(transaction) {
    authorize(transaction, system.apiKey)
    const { id } = await newIntent()
    transaction.fullPath = `/v1/payments/intents/${id}`
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
    const { TOTP } = require('otpauth')
    const owner = system.owners[1]
    const { mfa_token } = await firstStep(owner)
    send(transaction, { mfa_token, code: new TOTP({ secret: owner.totpSecret }).generate() })
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
