import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { StagedMerchant } from './stage.ts'

export type Operation = 'createPaymentIntent' | 'getPaymentIntent' | 'getReadiness' | 'repeat'

/** One request, as its caller saw it. Times are milliseconds of this process's clock. */
export interface Try {
  operation: Operation
  /** Index of the process asked. */
  process: number
  began: number
  ended: number
  /** Null when there was no answer. */
  status: number | null
  retryAfter: boolean
  problem: string
  /** A key sent before and not answered yet. */
  again: boolean
}

/** What one Idempotency-Key was used for. */
export interface KeyedIntent {
  key: string
  merchant: StagedMerchant
  /** Whether a provider is asked: one channel. */
  charged: boolean
  body: object
  /** Of the first 201; null until then. */
  intentId: string | null
  tries: number
}

export interface Load {
  tries: readonly Try[]
  keys: readonly KeyedIntent[]
  /** Wrong answers: another intent under the same key, an acknowledged intent that is not there, a refusal. */
  wrong: readonly string[]
  /** An acknowledged intent with a charge that was not handed out yet. */
  takeCharged(): KeyedIntent | undefined
  /** Ends the load and resolves when every key has its answer, or `limitMs` have passed. */
  finish(limitMs: number): Promise<void>
  /** One more request outside of the load, recorded all the same. */
  send(operation: Operation, process: number, request: OutgoingRequest): Promise<Answer>
}

interface OutgoingRequest {
  merchant?: StagedMerchant
  path: string
  key?: string
  body?: object
}

export interface Answer {
  status: number | null
  body: { id?: string, [member: string]: unknown }
  problem: string
}

const callers = 16
const pauseMs = 40
const retryMs = [50, 150] as const
/** A key without answer after this is followed up aside, so that the load stays what it is. */
const patienceMs = 2000
/** Above every limit that is judged: what takes this long hangs. */
const hangMs = 20_000

/** Starts 16 callers that create, repeat and read intents at the processes of `urls`, each at one of them by chance. */
export function startLoad(urls: readonly string[], merchants: readonly StagedMerchant[], random: () => number): Load {
  const tries: Try[] = []
  const keys: KeyedIntent[] = []
  const known: KeyedIntent[] = []
  const charged: KeyedIntent[] = []
  const wrong: string[] = []
  const following = new Set<Promise<void>>()
  let ending = false
  let abandoned = false

  const pick = <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(random() * items.length)]
  const anyProcess = (): number => Math.floor(random() * urls.length)
  const retryPause = (): Promise<void> => wait(retryMs[0] + random() * (retryMs[1] - retryMs[0]))

  const send: Load['send'] = (operation, process, request) => sendRecorded(operation, process, request, false)
  const sendRecorded = async (
    operation: Operation, process: number, { merchant, path, key, body }: OutgoingRequest, again: boolean,
  ): Promise<Answer> => {
    const record: Try = { operation, process, began: performance.now(), ended: 0, status: null, retryAfter: false, problem: '', again }
    let answer: Answer = { status: null, body: {}, problem: '' }
    try {
      const response = await fetch(`${urls[process]}${path}`, {
        method: body ? 'POST' : 'GET',
        headers: {
          ...(merchant && { Authorization: `Bearer ${merchant.apiKey}` }), ...(key && { 'Idempotency-Key': key }),
          ...(body && { 'Content-Type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(hangMs),
      })
      const read = JSON.parse(await response.text()) as Answer['body']
      record.status = response.status
      record.retryAfter = /^\d+$/.test(response.headers.get('retry-after') ?? '')
      answer = { status: response.status, body: read, problem: typeof read.message === 'string' ? read.message : '' }
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : ''
      answer = { status: null, body: {}, problem: `${String(error)} ${cause}` }
    }
    record.ended = performance.now()
    record.problem = answer.problem
    tries.push(record)
    return answer
  }

  /** True once the key has its answer. */
  const tryKey = async (made: KeyedIntent): Promise<boolean> => {
    made.tries += 1
    const { merchant, key, body } = made
    const answer = await sendRecorded('createPaymentIntent', anyProcess(), { merchant, path: '/v1/payments/intents', key, body }, made.tries > 1)
    if (answer.status === null || answer.status >= 500) return false
    if (answer.status !== 201 || answer.body.id === undefined) {
      wrong.push(`createPaymentIntent under ${key}: ${answer.status} ${answer.problem}`)
      return true
    }
    made.intentId = answer.body.id
    known.push(made)
    if (made.charged) charged.push(made)
    return true
  }

  const follow = async (made: KeyedIntent): Promise<void> => {
    while (!abandoned && !(await tryKey(made))) await retryPause()
  }

  const create = async (oneChannel: boolean): Promise<void> => {
    const key = randomUUID()
    const body = {
      amount_idr: 10_000 + Math.floor(random() * 90_000), metadata: { drill_key: key },
      // By this the simulator's charges are found again.
      ...(oneChannel && { reference_id: key }),
      allowed_channels: oneChannel ? [pick(['qris', 'va_bank_a', 'ewallet_wallet_a'])] : ['qris', 'va_bank_a', 'otc_store_a'],
    }
    const made: KeyedIntent = { key, merchant: pick(merchants) as StagedMerchant, charged: oneChannel, body, intentId: null, tries: 0 }
    keys.push(made)
    const began = performance.now()
    while (!(await tryKey(made))) {
      if (ending || performance.now() - began > patienceMs) {
        const followed = follow(made).finally(() => following.delete(followed))
        following.add(followed)
        return
      }
      await retryPause()
    }
  }

  const read = async (): Promise<void> => {
    const made = pick(known)
    if (!made) return
    const answer = await send('getPaymentIntent', anyProcess(), { merchant: made.merchant, path: `/v1/payments/intents/${made.intentId}` })
    if (isRefused(answer) || (answer.status === 200 && answer.body.id !== made.intentId)) {
      wrong.push(`getPaymentIntent ${made.intentId}: ${answer.status} ${answer.problem}`)
    }
  }

  const repeat = async (): Promise<void> => {
    const made = pick(known)
    if (!made) return
    const { merchant, key, body, intentId } = made
    const answer = await send('repeat', anyProcess(), { merchant, path: '/v1/payments/intents', key, body })
    if (isRefused(answer) || (answer.status === 201 && answer.body.id !== intentId)) {
      wrong.push(`the key ${key} of ${intentId} answers ${answer.status} ${answer.body.id ?? answer.problem}`)
    }
  }

  const ready = async (): Promise<void> => {
    const answer = await send('getReadiness', anyProcess(), { path: '/v1/ready' })
    if (isRefused(answer)) wrong.push(`getReadiness: ${answer.status} ${answer.problem}`)
  }

  const call = async (): Promise<void> => {
    await wait(random() * pauseMs)
    while (!ending) {
      const began = tries.length
      const draw = random()
      if (draw < 0.35) await create(true)
      else if (draw < 0.55) await create(false)
      else if (draw < 0.65) await repeat()
      else if (draw < 0.9) await read()
      else await ready()
      const failed = tries.slice(began).some(({ status }) => status === null || status >= 500)
      await (failed ? retryPause() : wait(pauseMs))
    }
  }

  const calling = Array.from({ length: callers }, call)
  return {
    tries, keys, wrong, send,
    takeCharged: () => charged.splice(Math.floor(random() * charged.length), 1)[0],
    finish: async (limitMs) => {
      ending = true
      await Promise.all(calling)
      const done = new AbortController()
      const limit = wait(limitMs, undefined, { signal: done.signal }).catch(() => undefined)
      const followed = (async () => {
        while (following.size > 0) await Promise.all(following)
      })()
      await Promise.race([followed, limit])
      done.abort()
      abandoned = true
      await followed
    },
  }
}

function isRefused({ status }: Answer): boolean {
  return status !== null && status >= 400 && status < 500
}
