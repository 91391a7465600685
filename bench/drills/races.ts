import { setTimeout as wait } from 'node:timers/promises'
import type { Database } from '../../db/sql.ts'
import { connectPatiently } from '../invariants.ts'
import type { Acknowledged } from '../invariants.ts'
import { failuresOf, randomFrom } from './drill.ts'
import type { Drill, DrillReport } from './drill.ts'
import { countsByStatus, describe, judgeAnswers } from './judgement.ts'
import { judgeChoice, judgeEnding, judgeRound } from './raceLaws.ts'
import type { Choice, Ending, Round } from './raceLaws.ts'
import { caller } from './rawRequests.ts'
import type { Call, RawAnswer } from './rawRequests.ts'
import type { Try } from './requests.ts'
import { awaitSettled, judgeTold } from './settling.ts'
import type { Stage } from './stage.ts'
import { openStageWithReceiver, subscribeMerchants } from './stageWithReceiver.ts'
import { brokenInvariants } from './verify.ts'

interface Arena {
  stage: Stage
  call: Call
  /** The sequence of a race: how the others went changes nothing of it. */
  randomOf(part: number, race: number): () => number
  database: Database
  acknowledged: Acknowledged[]
}

const sizes = {
  short: { rounds: 4, endings: { three: 18, two: 6 }, choices: 12 },
  long: { rounds: 200, endings: { three: 1000, two: 300 }, choices: 300 },
} as const
const callersOfAKey = 50
const endingsAtATime = 12
const withdrawnWithinMs = 60_000
const intents = '/v1/payments/intents'

/** What two processes are asked at once: the same key, and acts of which one alone can come first. */
export const races: Drill = {
  name: 'races',
  about: 'the same key 50 x 200, pay against cancel against expiry x 1000, each two of these x 100, choose against choose or cancel x 300, over two processes',
  async run({ short, seed, say }) {
    const size = short ? sizes.short : sizes.long
    const opened = await openStageWithReceiver(say)
    const { stage, receiver } = opened
    const database = connectPatiently(stage.databaseUrl)
    const tries: Try[] = []
    const arena: Arena = {
      stage, database, acknowledged: [], call: caller(stage.payments.map(({ url }) => url), tries), randomOf: (...path) => randomFrom(seed, ...path),
    }
    let passed = false
    try {
      await subscribeMerchants(opened)
      const parts: DrillReport[] = []
      for (const [name, part] of [
        ['same key', () => sameKeys(arena, size.rounds)], ['endings', () => endings(arena, size.endings)], ['choices', () => choices(arena, size.choices)],
      ] as const) {
        parts.push(await part())
        say(`${name}: ${parts.at(-1)?.failures.length === 0 ? 'holds' : 'FAILED'}`)
      }
      const failures = [
        ...parts.flatMap((part) => part.failures), ...judgeRaceAnswers(tries), ...await awaitSettled(database), ...await judgeTold(database, receiver),
        ...await brokenInvariants(database, arena.acknowledged),
      ]
      passed = failures.length === 0
      return { failures, figures: [...parts.flatMap(({ figures }) => figures), ['requests by status', countsByStatus(tries)]] }
    } finally {
      await database.end()
      const logs = await stage.close(!passed)
      if (logs) say(`the logs are in ${logs}`)
    }
  },
}

/** Nothing is away while acts race: every request has a declared answer in time. */
export function judgeRaceAnswers(tries: readonly Try[]): string[] {
  return [...judgeAnswers(tries), ...failuresOf('requests without an answer', tries.filter(({ status }) => status === null), describe)]
}

/** Fifty times the same request under one key, at once and at both processes: with one channel and with several in turn. */
async function sameKeys({ stage, call, randomOf, database, acknowledged }: Arena, times: number): Promise<DrillReport> {
  const rounds: (Round & { answers: readonly RawAnswer[] })[] = []
  for (let at = 0; at < times; at += 1) {
    const random = randomOf(0, at)
    const key = `round-${at}-${random().toString(36).slice(2)}`
    const merchant = stage.merchants[at % stage.merchants.length]
    const body = {
      amount_idr: 10_000 + Math.floor(random() * 90_000), allowed_channels: at % 2 === 0 ? ['qris'] : ['qris', 'va_bank_a'], metadata: { drill_key: key },
    }
    const answers = await Promise.all(Array.from({ length: callersOfAKey }, (_, twin) =>
      call(twin, { operation: 'createPaymentIntent', merchant, path: intents, key, body })))
    rounds.push({ key, answers, intents: 0 })
    const id = answers.find(({ status }) => status === 201)?.body.id
    if (typeof id === 'string') acknowledged.push({ kind: 'intent', id })
  }
  const made = await database.query((sql) => sql<{ key: string, count: number }[]>`
    select metadata ->> 'drill_key' as key, count(*)::int as count from payments.payment_intents where metadata ? 'drill_key' group by 1`)
  const counts = new Map(made.map(({ key, count }) => [key, count]))
  const told = rounds.map((round) => judgeRound({ ...round, intents: counts.get(round.key) ?? 0 }))
  return {
    failures: failuresOf('rounds of one key', told.filter((text) => text !== null), (text) => text),
    figures: [['same key', `${times} rounds of ${callersOfAKey}, 503 before the answer: ${retries(rounds.flatMap(({ answers }) => answers))}`]],
  }
}

function retries(answers: readonly RawAnswer[]): number {
  return answers.reduce((sum, { refusals }) => sum + refusals, 0)
}

const acts = ['pay', 'cancel', 'expire'] as const

/** Pay, cancel and expire at once, each at a process by chance; then two of them, each of the three left out in turn. */
async function endings(
  { stage, call, randomOf, database, acknowledged }: Arena, { three, two }: { three: number, two: number },
): Promise<DrillReport> {
  const races: Omit<Ending, 'status' | 'late' | 'events'>[] = []
  const race = async (at: number): Promise<void> => {
    const merchant = stage.merchants[at % stage.merchants.length]
    const reference = `ending-${at}`
    const wanted = { amount_idr: 50_000, allowed_channels: ['va_bank_a'], reference_id: reference }
    const { body } = await call(at, { operation: 'createPaymentIntent', merchant, path: intents, body: wanted })
    const id = String(body.id)
    const { charges: [charge] } = await stage.simulator.charges({ merchant_reference: reference })
    const without = at < three ? null : acts[at % acts.length]
    const random = randomOf(1, at)
    const plan = acts.map((name) => ({ name, waitMs: random() * 4, process: Math.floor(random() * 2) }))
    const move = async ({ name, waitMs, process }: typeof plan[number]): Promise<number | null> => {
      if (without === name) return null
      await wait(waitMs)
      if (name === 'cancel') return (await call(process, { operation: 'cancelPaymentIntent', merchant, path: `${intents}/${id}/cancel` })).status
      if (name === 'expire') return (await call(process, { operation: 'sandboxExpirePaymentIntent', merchant, path: `${intents}/${id}/sandbox-expire` })).status
      const { callback } = await stage.simulator.pay(charge?.reference ?? '', { force: true })
      return callback?.status ?? null
    }
    const [pay, cancel, expire] = await Promise.all(plan.map(move))
    races.push({ id, pay: pay ?? null, cancel: cancel ?? null, expire: expire ?? null, asked: acts.filter((name) => name !== without) })
  }
  await inParallel(three + two, endingsAtATime, race)
  const unfinished = await awaitSettled(database)
  const ended = await statesOf(database, races.map(({ id }) => id))
  const judged = races.map((one) => ({ ...one, ...(ended.get(one.id) ?? { status: 'missing', late: false, events: [], pending: 0 }) }))
  for (const { id, pay } of judged) acknowledged.push({ kind: pay === 200 ? 'paid_intent' : 'intent', id })
  const stories = Map.groupBy(judged, ({ status, late, events }) => `${status}${late ? ' late' : ''} [${events.map((kind) => kind.split('.')[1]).join(' ')}]`)
  return {
    failures: [...unfinished, ...failuresOf('races of endings', judged.map(judgeEnding).filter((text) => text !== null), (text) => text)],
    figures: [[`endings, ${three} of three and ${two} of two`, [...stories].map(([story, those]) => `${story}: ${those.length}`).sort().join(', ')]],
  }
}

/** Twins of one choice, two choices, and a choice beside a cancellation. */
async function choices({ stage, call, randomOf, database, acknowledged }: Arena, times: number): Promise<DrillReport> {
  const races: Omit<Choice, 'status' | 'late' | 'events' | 'pending'>[] = []
  const race = async (at: number): Promise<void> => {
    const merchant = stage.merchants[at % stage.merchants.length]
    const { body } = await call(at, {
      operation: 'createPaymentIntent', merchant, path: intents, body: { amount_idr: 50_000, allowed_channels: ['va_bank_a', 'qris', 'ewallet_wallet_a'], reference_id: `choice-${at}` },
    })
    const id = String(body.id)
    const path = `/v1/public/payments/intents/${String(body.shortcode)}/attempts`
    const kind = (['twins', 'rivals', 'cancel'] as const)[at % 3] ?? 'twins'
    const attempts: string[] = []
    const random = randomOf(2, at)
    const [first, second, cancelled] = [random() * 4, random() * 4, random() * 12]
    const choose = async (process: number, channel: string): Promise<number | null> => {
      await wait(process === 0 ? first : second)
      const chosen = await call(process, { operation: 'choosePublicCheckoutChannel', path, body: { channel } })
      if (chosen.status === 201) attempts.push(String(chosen.body.id))
      return chosen.status
    }
    const cancel = async (): Promise<number | null> => {
      await wait(cancelled)
      return (await call(1, { operation: 'cancelPaymentIntent', merchant, path: `${intents}/${id}/cancel` })).status
    }
    const answers = await Promise.all([choose(0, 'qris'), kind === 'cancel' ? cancel() : choose(1, kind === 'twins' ? 'qris' : 'ewallet_wallet_a')])
    races.push({ id, kind, answers, attempts })
    acknowledged.push({ kind: 'intent', id })
  }
  await inParallel(times, endingsAtATime, race)
  const ids = races.map(({ id }) => id)
  await withdrawn(database, ids)
  const ended = await statesOf(database, ids)
  const judged = races.map((one) => ({ ...one, ...(ended.get(one.id) ?? { status: 'missing', late: false, events: [], pending: 0 }) }))
  const stories = Map.groupBy(judged, ({ kind, answers, status }) => `${kind} ${answers.join(' ')} ${status}`)
  return {
    failures: failuresOf('races of choices', judged.map(judgeChoice).filter((text) => text !== null), (text) => text),
    figures: [['choices', [...stories].map(([story, those]) => `${story}: ${those.length}`).sort().join(', ')]],
  }
}

async function inParallel(times: number, atATime: number, work: (at: number) => Promise<void>): Promise<void> {
  const numbers = Array.from({ length: times }, (_, at) => at).values()
  await Promise.all(Array.from({ length: atATime }, async () => {
    for (const at of numbers) await work(at)
  }))
}

interface State {
  status: string
  late: boolean
  events: string[]
  pending: number
}

async function statesOf(database: Database, ids: readonly string[]): Promise<Map<string, State>> {
  const rows = await database.query((sql) => sql<(State & { id: string })[]>`
    select i.id, i.status, i.late,
      (select array_agg(e.kind order by e.position) from payments.events e where e.intent_id = i.id) as events,
      (select count(*)::int from payments.payment_attempts a where a.intent_id = i.id and a.status = 'pending') as pending
    from payments.payment_intents i where i.id = any(${ids as string[]}::uuid[])`)
  return new Map(rows.map(({ id, ...state }) => [id, { ...state, events: state.events ?? [] }]))
}

/** Waits until the worker has withdrawn what was chosen and is no longer wanted; what stays is for the judge. */
async function withdrawn(database: Database, ids: readonly string[]): Promise<void> {
  for (const began = performance.now(); performance.now() - began < withdrawnWithinMs; await wait(200)) {
    const states = [...(await statesOf(database, ids)).values()]
    if (states.every(({ status, pending }) => pending === (status === 'open' ? 1 : 0))) return
  }
}
