import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { randomFrom } from './drill.ts'
import type { KeyedIntent } from './keyedIntent.ts'
import { Moves } from './moves.ts'
import { isFailed, isRefused, recordedSend } from './requests.ts'
import type { Answer, Send, Try } from './requests.ts'
import type { StagedMerchant } from './stage.ts'

export interface LoadOptions {
  /** Default 16. */
  callers?: number
  /** Between two operations of a caller; default 40. */
  pauseMs?: number
}

const retryMs = [50, 150] as const
/** A key without answer after this is followed up aside, so that the load stays what it is. */
const patienceMs = 2000
const intentsPath = '/v1/payments/intents'

/** Starts callers that create, repeat, read, list, choose, complete and cancel at the processes of `urls`, each time at one by chance. */
export function startLoad(urls: readonly string[], merchants: readonly StagedMerchant[], seed: number, options?: LoadOptions): Load {
  return new Load(urls, merchants, seed, options)
}

export class Load {
  readonly tries: Try[] = []
  readonly keys: KeyedIntent[] = []
  /** Wrong answers: another intent under the same key, an acknowledged intent that is not there, a refusal. */
  readonly wrong: string[] = []
  /** One more request outside of the load, recorded all the same. */
  readonly send: Send
  /** What was done to intents after their creation. */
  readonly moves: Moves
  readonly #processes: number
  readonly #merchants: readonly StagedMerchant[]
  /** Draws what depends on when answers come: pauses, processes, and of what is known which. */
  readonly #random: () => number
  readonly #known: KeyedIntent[] = []
  readonly #charged: KeyedIntent[] = []
  readonly #several: KeyedIntent[] = []
  readonly #pauseMs: number
  readonly #following = new Set<Promise<void>>()
  readonly #calling: readonly Promise<void>[]
  #ending = false
  #abandoned = false

  constructor(urls: readonly string[], merchants: readonly StagedMerchant[], seed: number, { callers = 16, pauseMs = 40 }: LoadOptions = {}) {
    this.send = recordedSend(urls, this.tries)
    this.moves = new Moves((operation, request) => this.send(operation, this.#anyProcess(), request), () => this.#retryPause())
    this.#pauseMs = pauseMs
    this.#processes = urls.length
    this.#merchants = merchants
    this.#random = randomFrom(seed, 0)
    this.#calling = Array.from({ length: callers }, (_, caller) => this.#call(randomFrom(seed, 1 + caller)))
  }

  /** An acknowledged intent with a charge that was not handed out yet. */
  takeCharged(): KeyedIntent | undefined {
    return this.#take(this.#charged)
  }

  #take(intents: KeyedIntent[]): KeyedIntent | undefined {
    return intents.splice(Math.floor(this.#random() * intents.length), 1)[0]
  }

  /** Ends the load and resolves when every key has its answer, or `limitMs` have passed. */
  async finish(limitMs: number): Promise<void> {
    this.#ending = true
    await Promise.all(this.#calling)
    const done = new AbortController()
    const limit = wait(limitMs, undefined, { signal: done.signal }).catch(() => undefined)
    const followed = (async () => {
      while (this.#following.size > 0) await Promise.all(this.#following)
    })()
    await Promise.race([followed, limit])
    done.abort()
    this.#abandoned = true
    await followed
  }

  /** Ends the load although keys are without an answer; nobody waits for what is under way. */
  abandon(): void {
    this.#ending = true
    this.#abandoned = true
  }

  /** A caller: what it does, and what it asks for, comes from a sequence of its own. */
  async #call(random: () => number): Promise<void> {
    await wait(random() * this.#pauseMs)
    while (!this.#ending) {
      const failed = await this.#act(random)
      await (failed ? this.#retryPause() : wait(this.#pauseMs))
    }
  }

  /** One operation by chance. True when it got no answer in the end. */
  async #act(random: () => number): Promise<boolean> {
    const draw = random()
    if (draw < 0.3) return this.#create(true, random)
    if (draw < 0.5) return this.#create(false, random)
    if (draw < 0.6) return this.#repeat()
    if (draw < 0.75) return this.#read()
    if (draw < 0.8) return this.moves.list(pick(this.#merchants, random))
    if (draw < 0.85) return this.moves.cancel(this.#take(this.#several))
    if (draw < 0.9) return this.moves.choose(this.#take(this.#several), pick(['qris', 'va_bank_a'], random))
    if (draw < 0.94) return this.moves.complete(this.takeCharged())
    return this.#askReadiness()
  }

  async #create(oneChannel: boolean, random: () => number): Promise<boolean> {
    const made = this.#newKey(oneChannel, random)
    this.keys.push(made)
    const began = performance.now()
    while (!(await this.#tryKey(made))) {
      if (this.#ending || performance.now() - began > patienceMs) {
        const followed = this.#follow(made).finally(() => this.#following.delete(followed))
        this.#following.add(followed)
        return true
      }
      await this.#retryPause()
    }
    return false
  }

  #newKey(oneChannel: boolean, random: () => number): KeyedIntent {
    const key = randomUUID()
    const one = pick(['qris', 'va_bank_a', 'ewallet_wallet_a'], random)
    const body = {
      amount_idr: 10_000 + Math.floor(random() * 90_000), metadata: { drill_key: key },
      allowed_channels: oneChannel ? [one] : ['qris', 'va_bank_a', 'otc_store_a'],
      // By this the simulator's charges are found again.
      ...(oneChannel && { reference_id: key }),
    }
    return { key, merchant: pick(this.#merchants, random), charged: oneChannel, body, intentId: null, shortcode: null, tries: 0 }
  }

  /** True once the key has its answer. */
  async #tryKey(made: KeyedIntent): Promise<boolean> {
    const { merchant, key, body } = made
    made.tries += 1
    const request = { merchant, path: intentsPath, key, body, again: made.tries > 1 }
    const answer = await this.send('createPaymentIntent', this.#anyProcess(), request)
    if (isFailed(answer)) return false
    if (answer.status !== 201 || answer.body.id === undefined) {
      this.wrong.push(`createPaymentIntent under ${key}: ${answer.status} ${answer.problem}`)
      return true
    }
    made.intentId = answer.body.id
    made.shortcode = String(answer.body.shortcode)
    this.#known.push(made)
    void (made.charged ? this.#charged : this.#several).push(made)
    return true
  }

  async #follow(made: KeyedIntent): Promise<void> {
    while (!this.#abandoned && !(await this.#tryKey(made))) await this.#retryPause()
  }

  async #read(): Promise<boolean> {
    if (this.#known.length === 0) return false
    const made = pick(this.#known, this.#random)
    const answer = await this.#readIntent(made, this.#anyProcess())
    if (!isFailed(answer) && !isRead(made, answer)) {
      this.wrong.push(`getPaymentIntent ${made.intentId}: ${answer.status} ${answer.problem}`)
    }
    return isFailed(answer)
  }

  async #repeat(): Promise<boolean> {
    if (this.#known.length === 0) return false
    const made = pick(this.#known, this.#random)
    const answer = await this.#repeatKey(made, this.#anyProcess())
    if (!isFailed(answer) && !isRepeated(made, answer)) {
      const { status, body, problem } = answer
      this.wrong.push(`the key ${made.key} of ${made.intentId} answers ${status} ${body.id ?? problem}`)
    }
    return isFailed(answer)
  }

  async #askReadiness(): Promise<boolean> {
    const answer = await this.send('getReadiness', this.#anyProcess(), { path: '/v1/ready' })
    if (isRefused(answer)) this.wrong.push(`getReadiness: ${answer.status} ${answer.problem}`)
    return isFailed(answer)
  }

  /** Asks for an acknowledged key and its intent once more. Tells what is not as it was acknowledged. */
  async askAgain(made: KeyedIntent, turn: number): Promise<{ repeated: string | null, read: string | null }> {
    const repeated = await this.#repeatKey(made, turn % this.#processes)
    const read = await this.#readIntent(made, (turn + 1) % this.#processes)
    const told = ({ status, body, problem }: Answer): string => `${made.intentId}, then ${status} ${body.id ?? problem}`
    return {
      repeated: isRepeated(made, repeated) ? null : told(repeated),
      read: isRead(made, read) ? null : told(read),
    }
  }

  #repeatKey({ merchant, key, body }: KeyedIntent, process: number): Promise<Answer> {
    return this.send('repeat', process, { merchant, path: intentsPath, key, body })
  }

  #readIntent({ merchant, intentId }: KeyedIntent, process: number): Promise<Answer> {
    return this.send('getPaymentIntent', process, { merchant, path: `${intentsPath}/${intentId}` })
  }

  #anyProcess(): number {
    return Math.floor(this.#random() * this.#processes)
  }

  #retryPause(): Promise<void> {
    return wait(retryMs[0] + this.#random() * (retryMs[1] - retryMs[0]))
  }
}

function pick<Item>(items: readonly Item[], random: () => number): Item {
  return items[Math.floor(random() * items.length)] as Item
}

function isRepeated({ intentId }: KeyedIntent, { status, body }: Answer): boolean {
  return status === 201 && body.id === intentId
}

function isRead({ intentId }: KeyedIntent, { status, body }: Answer): boolean {
  return status === 200 && body.id === intentId
}
