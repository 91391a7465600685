import { randomUUID } from 'node:crypto'
import type { KeyedIntent } from './keyedIntent.ts'
import { isFailed } from './requests.ts'
import type { Answer, Operation, OutgoingRequest } from './requests.ts'
import type { StagedMerchant } from './stage.ts'

type SendAnywhere = (operation: Operation, request: OutgoingRequest) => Promise<Answer>

/** A move without answer is given up after this: what became of it stays in doubt. */
const patienceMs = 25_000
const path = '/v1/payments/intents'

/** What callers do to intents after their creation. Each answers true when it got no answer in the end. */
export class Moves {
  /** Intents whose cancellation was confirmed. */
  readonly cancelled: KeyedIntent[] = []
  /** Intents whose payment was confirmed to who completed them. */
  readonly completed: KeyedIntent[] = []
  /** Completions that never were answered. */
  readonly doubtful: KeyedIntent[] = []
  readonly wrong: string[] = []
  readonly #send: SendAnywhere
  readonly #pause: () => Promise<void>

  constructor(send: SendAnywhere, pause: () => Promise<void>) {
    this.#send = send
    this.#pause = pause
  }

  async list(merchant: StagedMerchant): Promise<boolean> {
    const answer = await this.#send('listPaymentIntents', { merchant, path: `${path}?limit=5` })
    if (isFailed(answer)) return true
    if (answer.status !== 200) this.#complain('listPaymentIntents', merchant.id, answer)
    return false
  }

  async cancel(intent: KeyedIntent | undefined): Promise<boolean> {
    if (!intent) return false
    const { merchant, intentId } = intent
    const request = { merchant, path: `${path}/${intentId}/cancel`, method: 'POST', key: randomUUID() } as const
    const { answer } = await this.#persist('cancelPaymentIntent', request)
    if (answer.status === 200) this.cancelled.push(intent)
    else if (!isFailed(answer)) this.#complain('cancelPaymentIntent', intentId, answer)
    return isFailed(answer)
  }

  async choose(intent: KeyedIntent | undefined, channel: string): Promise<boolean> {
    if (!intent) return false
    const request = { path: `/v1/public/payments/intents/${intent.shortcode}/attempts`, body: { channel } }
    const { answer } = await this.#persist('choosePublicCheckoutChannel', request)
    if (!isFailed(answer) && answer.status !== 201 && answer.status !== 200) this.#complain('choosePublicCheckoutChannel', intent.intentId, answer)
    return isFailed(answer)
  }

  async complete(intent: KeyedIntent | undefined): Promise<boolean> {
    if (!intent) return false
    const { merchant, intentId } = intent
    const request = { merchant, path: `${path}/${intentId}/sandbox-complete`, method: 'POST' } as const
    const { answer, again } = await this.#persist('sandboxCompletePaymentIntent', request)
    // Completed by the try whose answer was lost: there is nothing left to complete.
    const alreadyDone = again && answer.status === 409
    if (answer.status === 200 || alreadyDone) this.completed.push(intent)
    else this.doubtful.push(intent)
    if (!isFailed(answer) && answer.status !== 200 && !alreadyDone) this.#complain('sandboxCompletePaymentIntent', intentId, answer)
    return isFailed(answer)
  }

  /** The same request until it is answered, or patience ends. */
  async #persist(operation: Operation, request: OutgoingRequest): Promise<{ answer: Answer, again: boolean }> {
    const began = performance.now()
    for (let again = false; ; again = true) {
      const answer = await this.#send(operation, { ...request, again })
      if (!isFailed(answer) || performance.now() - began > patienceMs) return { answer, again }
      await this.#pause()
    }
  }

  #complain(operation: Operation, id: string | null, { status, problem }: Answer): void {
    this.wrong.push(`${operation} of ${id}: ${status} ${problem}`)
  }
}
