import { channelCodes, channelOf } from '../domain/channels.ts'
import type { Runtime } from '../domain/runtime.ts'
import { verifyCallbackSignature } from './callbackSignature.ts'
import type {
  CallbackReading, CallbackVerdict, ChannelCapability, ChargeIdentity, ChargeRequest, CreateChargeResult, Decline, ExpireChargeResult,
  FindChargeResult, KnownCharge, PaymentProvider, ProviderCapabilities, ReceivedCallback, SandboxMoveResult, SandboxMoves, Unsettled,
} from './paymentProvider.ts'
import { callProvider, unknown, unsettled } from './providerCall.ts'
import type { CallSettings, ProviderAnswer } from './providerCall.ts'
import { isObject, parseJson } from './readJson.ts'
import type { FindRefundResult, RefundIdentity, RefundRequest, RefundResult } from './refundCalls.ts'
import { readCallback, readCharge, readRefund, readRefusal, writeChargeRequest, writeRefundRequest } from './simulatorWire.ts'

export interface SimulatorProviderSettings extends CallSettings {
  /** Where the simulator listens, without a trailing slash. */
  readonly baseUrl: string
  readonly apiKey: string
  readonly runtime: Runtime
}

/** The simulator tells no limit of its own: what it refuses must come as a refusal, as it would of a real provider. */
const capabilities: ProviderCapabilities = Object.fromEntries(channelCodes.filter((code) => channelOf(code).needs_provider).map((code) => [code, {
  multiUse: channelOf(code).standing_attempt,
  minAmountIdr: null,
  maxAmountIdr: null,
  refund: channelOf(code).refund === 'programmatic' ? 'partial' : 'none',
  canExpire: true,
  canFindByKey: true,
  longestExpirySeconds: null,
} satisfies ChannelCapability]))

/** The sandbox's provider, reached over HTTP as a real one is. */
export class SimulatorProvider implements PaymentProvider {
  readonly name = 'simulator'
  readonly capabilities = capabilities
  readonly callbackHeaders = ['content-type', 'user-agent', 'x-simulator-signature']
  readonly sandbox: SandboxMoves = {
    complete: (reference) => this.#move(reference, 'complete', { again: true }),
    decline: (reference, { code, message }) => this.#move(reference, 'decline', { code, message, again: true }),
    expire: (reference) => this.#move(reference, 'expire', { again: true }),
    payLate: (reference) => this.#move(reference, 'pay', { force: true }),
  }
  readonly #settings: SimulatorProviderSettings

  constructor(settings: SimulatorProviderSettings) {
    this.#settings = settings
  }

  async createCharge(request: ChargeRequest, withinMs?: number): Promise<CreateChargeResult> {
    const answer = await this.#call('POST', '/charges', writeChargeRequest(request), withinMs)
    if ('outcome' in answer) return answer
    if (answer.status === 200 || answer.status === 201) {
      const charge = readCharge(answer.json, this.name)
      return charge?.key === request.key ? { outcome: 'charged', charge } : unknown('unreadable charge')
    }
    return this.#declined(answer) ?? open(answer)
  }

  async findCharge({ key }: ChargeIdentity, withinMs?: number): Promise<FindChargeResult> {
    const answer = await this.#call('GET', `/charges?key=${encodeURIComponent(key)}`, undefined, withinMs)
    if ('outcome' in answer) return answer
    const charges = answer.status === 200 && isObject(answer.json) ? answer.json.charges : null
    if (!Array.isArray(charges)) return open(answer)
    if (charges.length === 0) return { outcome: 'absent' }
    const charge = readCharge(charges[0], this.name)
    return charge?.key === key ? { outcome: 'found', charge } : unknown('unreadable charge')
  }

  async expireCharge({ key, reference }: KnownCharge): Promise<ExpireChargeResult> {
    const answer = await this.#call('POST', `/charges/${encodeURIComponent(reference)}/expire`)
    if ('outcome' in answer) return answer
    // A 404 counts only with the simulator's own word: a proxy's 404 says nothing about the charge.
    if (answer.status === 404 && readRefusal(answer.json)?.code === 'charge_not_found') return { outcome: 'absent' }
    if (answer.status !== 200) return open(answer)
    const charge = readCharge(answer.json, this.name)
    return charge?.key === key ? { outcome: 'ended', charge } : unknown('unreadable charge')
  }

  async refund(request: RefundRequest): Promise<RefundResult> {
    const answer = await this.#call('POST', '/refunds', writeRefundRequest(request))
    if ('outcome' in answer) return answer
    if (answer.status === 200 || answer.status === 201) return this.#refundIn(answer.json, request.key)
    return this.#declined(answer) ?? open(answer)
  }

  async findRefund({ key }: RefundIdentity): Promise<FindRefundResult> {
    const answer = await this.#call('GET', `/refunds?key=${encodeURIComponent(key)}`)
    if ('outcome' in answer) return answer
    const refunds = answer.status === 200 && isObject(answer.json) ? answer.json.refunds : null
    if (!Array.isArray(refunds)) return open(answer)
    return refunds.length === 0 ? { outcome: 'absent' } : this.#refundIn(refunds[0], key)
  }

  #refundIn(json: unknown, key: string): RefundResult {
    const read = readRefund(json)
    if (read?.key !== key) return unknown('unreadable refund')
    const { status, decline, ...refund } = read
    if (status !== 'failed') return { outcome: status, refund }
    return decline === null ? unknown('unreadable refund') : { outcome: 'declined', decline: { provider: this.name, ...decline } }
  }

  /** 400 and 422 say that nothing was done and never will be; another request under our key (409) says nothing about the first. */
  #declined({ status, json }: ProviderAnswer): { outcome: 'declined'; decline: Decline } | null {
    const refusal = status === 400 || status === 422 ? readRefusal(json) : null
    return refusal === null ? null : { outcome: 'declined', decline: { provider: this.name, ...refusal } }
  }

  async #move(reference: string, move: 'complete' | 'decline' | 'expire' | 'pay', details: Record<string, unknown>): Promise<SandboxMoveResult> {
    const answer = await this.#call('POST', `/control/charges/${encodeURIComponent(reference)}/${move}`, details)
    if ('outcome' in answer) return answer
    const refusal = answer.status === 409 ? readRefusal(answer.json) : null
    if (refusal !== null) return { outcome: 'refused', reason: refusal.message, reported: isObject(answer.json) && answer.json.reported === true }
    if (answer.status !== 200 || !isObject(answer.json) || !('callback' in answer.json)) return open(answer)
    const { callback } = answer.json
    // A callback that a tester holds back has told nobody yet.
    return { outcome: 'moved', reported: isObject(callback) && !('held' in callback) }
  }

  verifyCallback(received: ReceivedCallback, secret: string): CallbackVerdict {
    const header = received.headers['x-simulator-signature']
    if (typeof header !== 'string') return { verified: false, reason: 'malformed' }
    return verifyCallbackSignature(secret, header, received.rawBody, this.#settings.runtime.now())
  }

  parseCallback(rawBody: Uint8Array): CallbackReading {
    const json = parseJson(Buffer.from(rawBody).toString())
    if (json === undefined) return { outcome: 'unintelligible', reason: 'not JSON' }
    return readCallback(json, this.name)
  }

  #call(method: 'GET' | 'POST', path: string, body?: Record<string, unknown>, withinMs?: number): Promise<ProviderAnswer | Unsettled> {
    const { baseUrl, apiKey } = this.#settings
    return callProvider(this.#settings, { method, url: baseUrl + path, headers: { authorization: `Bearer ${apiKey}` }, body }, withinMs)
  }
}

function open(answer: ProviderAnswer): Unsettled {
  return unsettled(answer, readRefusal(answer.json)?.code ?? null)
}
