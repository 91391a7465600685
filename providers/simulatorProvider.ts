import { channelCodes, channelOf } from '../domain/channels.ts'
import type { Runtime } from '../domain/runtime.ts'
import { verifyCallbackSignature } from './callbackSignature.ts'
import type {
  CallbackReading, CallbackVerdict, ChargeRequest, CreateChargeResult, ExpireChargeResult, FindChargeResult,
  PaymentProvider, ProviderCapabilities, ReceivedCallback, SandboxMoveResult, SandboxMoves, Unknown,
} from './paymentProvider.ts'
import { isObject, parseJson, readCallback, readCharge, readRefusal, writeChargeRequest } from './simulatorWire.ts'

export interface SimulatorProviderSettings {
  /** Where the simulator listens, without a trailing slash. */
  readonly baseUrl: string
  readonly apiKey: string
  readonly runtime: Runtime
  /** Limit of one call in milliseconds, from connecting to the last byte; 8000 unless told (decision 3.3). */
  readonly callLimitMs?: number
}

interface Answer {
  readonly status: number
  readonly json: unknown
}

/** The sandbox's provider, reached over HTTP as a real one is. */
export class SimulatorProvider implements PaymentProvider {
  readonly name = 'simulator'
  readonly capabilities: ProviderCapabilities = {
    channels: channelCodes.filter((code) => channelOf(code).needs_provider),
    multiUseChannels: channelCodes.filter((code) => channelOf(code).needs_provider && channelOf(code).standing_attempt),
    canExpire: true,
    canFindByKey: true,
  }
  readonly sandbox: SandboxMoves = {
    complete: (reference) => this.#move(reference, 'complete', {}),
    decline: (reference, { code, message }) => this.#move(reference, 'decline', { code, message }),
    expire: (reference) => this.#move(reference, 'expire', {}),
  }
  readonly #settings: SimulatorProviderSettings

  constructor(settings: SimulatorProviderSettings) {
    this.#settings = settings
  }

  async createCharge(request: ChargeRequest): Promise<CreateChargeResult> {
    const answer = await this.#call('POST', '/charges', writeChargeRequest(request))
    if ('outcome' in answer) return answer
    if (answer.status === 200 || answer.status === 201) {
      const charge = readCharge(answer.json)
      return charge?.key === request.key ? { outcome: 'charged', charge } : unknown('unreadable charge')
    }
    // 400 and 422 say that nothing was charged and never will be; what else is refused (a wrong API key, another
    // request under our key, too many calls) says nothing about the charge.
    const refusal = answer.status === 400 || answer.status === 422 ? readRefusal(answer.json) : null
    if (refusal === null) return unknown(`status ${answer.status}`)
    return { outcome: 'declined', decline: { provider: this.name, ...refusal } }
  }

  async findCharge(key: string): Promise<FindChargeResult> {
    const answer = await this.#call('GET', `/charges?key=${encodeURIComponent(key)}`)
    if ('outcome' in answer) return answer
    const charges = answer.status === 200 && isObject(answer.json) ? answer.json.charges : null
    if (!Array.isArray(charges)) return unknown(`status ${answer.status}`)
    if (charges.length === 0) return { outcome: 'absent' }
    const charge = readCharge(charges[0])
    return charge?.key === key ? { outcome: 'found', charge } : unknown('unreadable charge')
  }

  async expireCharge(reference: string): Promise<ExpireChargeResult> {
    const answer = await this.#call('POST', `/charges/${encodeURIComponent(reference)}/expire`)
    if ('outcome' in answer) return answer
    // A 404 counts only with the simulator's own word: a proxy's 404 says nothing about the charge.
    if (answer.status === 404 && readRefusal(answer.json)?.code === 'charge_not_found') return { outcome: 'absent' }
    if (answer.status !== 200) return unknown(`status ${answer.status}`)
    const charge = readCharge(answer.json)
    return charge?.reference === reference ? { outcome: 'ended', charge } : unknown('unreadable charge')
  }

  async #move(reference: string, move: 'complete' | 'decline' | 'expire', details: Record<string, unknown>): Promise<SandboxMoveResult> {
    const answer = await this.#call('POST', `/control/charges/${encodeURIComponent(reference)}/${move}`, { ...details, again: true })
    if ('outcome' in answer) return answer
    const refusal = answer.status === 409 ? readRefusal(answer.json) : null
    if (refusal !== null) return { outcome: 'refused', reason: refusal.message }
    if (answer.status !== 200 || !isObject(answer.json) || !('callback' in answer.json)) return unknown(`status ${answer.status}`)
    return { outcome: 'moved', reported: answer.json.callback !== null }
  }

  verifyCallback(received: ReceivedCallback, secret: string): CallbackVerdict {
    const header = received.headers['x-simulator-signature']
    if (typeof header !== 'string') return { verified: false, reason: 'malformed' }
    return verifyCallbackSignature(secret, header, received.rawBody, this.#settings.runtime.now())
  }

  parseCallback(rawBody: Uint8Array): CallbackReading {
    const json = parseJson(Buffer.from(rawBody).toString())
    if (json === undefined) return { outcome: 'unintelligible', reason: 'not JSON' }
    const callback = readCallback(json, this.name)
    return callback === null
      ? { outcome: 'unintelligible', reason: 'not a notice about a charge' }
      : { outcome: 'understood', callback }
  }

  async #call(method: 'GET' | 'POST', path: string, body?: Record<string, unknown>): Promise<Answer | Unknown> {
    const { baseUrl, apiKey, runtime, callLimitMs = 8000 } = this.#settings
    try {
      const response = await runtime.fetch(baseUrl + path, {
        method,
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: body === undefined ? null : JSON.stringify(body),
        redirect: 'error',
        signal: AbortSignal.timeout(callLimitMs),
      })
      const json = parseJson(await response.text())
      return json === undefined ? unknown(`status ${response.status}, not JSON`) : { status: response.status, json }
    } catch (error) {
      return unknown(describe(error))
    }
  }
}

function unknown(reason: string): Unknown {
  return { outcome: 'unknown', reason }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'call failed'
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : ''
  return `${error.name}: ${error.message}${cause}`
}
