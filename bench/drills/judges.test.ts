import { describe, expect, test } from 'vitest'
import { judgeTerminations } from './backends.ts'
import { judgeKills } from './killApi.ts'
import { judgePool } from './pool.ts'
import { judgeOutages } from './postgresRestart.ts'
import { judgeChoice, judgeEnding, judgeRound } from './raceLaws.ts'
import type { Choice, Ending } from './raceLaws.ts'
import type { Try } from './requests.ts'
import { judgeRaceAnswers } from './races.ts'
import { judgeCallbacks, judgeRestarts } from './rollingRestart.ts'
import { judgeUnfinished } from './settling.ts'
import { judgeNetwork } from './slowNetwork.ts'
import type { BadNetwork } from './slowNetwork.ts'
import { judgeEnds } from './underLoad.ts'
import { judgeCreations } from './webhookFaults.ts'

const entry = (began: number, ended: number, status: number | null, more: Partial<Try> = {}): Try => ({
  operation: 'getPaymentIntent', process: 0, began, ended, status, retryAfter: status === 503, problem: '', again: false, ...more,
})
/** A success every 100 ms. */
const calm = (from: number, to: number, more: Partial<Try> = {}): Try[] =>
  Array.from({ length: Math.floor((to - from) / 100) }, (_, at) => entry(from + at * 100, from + at * 100 + 50, 200, more))
const saying = (...parts: string[]) => parts.map((part) => expect.stringContaining(part) as string)
const child = (name: string, times: number) => ({ child: { name } as never, ends: () => times, url: '' })

test('a process that ended by itself fails every drill', () => {
  expect(judgeEnds([child('worker', 0)])).toEqual([])
  expect(judgeEnds([child('worker', 2)])).toEqual(saying('worker: 2 times'))
})

test('what is begun or due a minute after the load fails every drill', () => {
  const none = { operations: 0, callbacks: 0, deliveries: 0 }
  expect(judgeUnfinished(none)).toEqual([])
  for (const left of [{ operations: 1 }, { callbacks: 1 }, { deliveries: 1 }]) expect(judgeUnfinished({ ...none, ...left })).toEqual(saying('unfinished'))
})

describe('kill-api', () => {
  const kill = { process: 0, from: 1000, startedAgain: 1500 }
  const good = [...calm(0, 1000), entry(990, 1010, null), ...calm(1500, 9000), ...calm(0, 9000, { process: 1 })]
  const judge = (tries: Try[], ends = 1, one = kill) => judgeKills(tries, [one], [child('payments 1', ends), child('payments 2', 0)], 9000)

  test('passes when the other process served on', () => expect(judge(good)).toEqual([]))

  test.each([
    ['the other process is silent', () => judge(good.filter(({ process, began }) => process === 0 || began < 1500 || began > 6000)), 'silent'],
    ['the other process is silent to the end', () => judge(good.filter(({ process, began }) => process === 0 || began < 1500)), 'silent'],
    ['another request is refused', () => judge([...good, entry(2000, 2010, 503)]), '503 to others'],
    ['a running process does not answer', () => judge([...good, entry(3000, 3010, null)]), 'although their process ran'],
    ['it is not started again in time', () => judge(good, 1, { ...kill, startedAgain: 2500 }), 'not started again'],
    ['it ends twice', () => judge(good, 2), 'ended 2 times'],
    ['no request met the kill', () => judge(good.filter(({ status }) => status !== null)), 'no request met'],
  ])('fails when %s', (_, failures, what) => expect(failures()).toEqual(expect.arrayContaining(saying(what))))
})

describe('postgres-stop and postgres-restart', () => {
  const outage = { from: 1000, to: 4000 }
  const good = [...calm(0, 1000), entry(1500, 2000, 503), ...calm(4200, 12_000)]
  const judge = (tries: Try[]) => judgeOutages(tries, [outage], 12_000)

  test('passes when service is back soon', () => expect(judge(good)).toEqual([]))

  test.each([
    ['the first success is late', [entry(1500, 2000, 503), ...calm(9100, 12_000)], 'no success within'],
    ['refusals go on', [...good, ...[4500, 5400, 6300, 7200, 8100, 9000, 9900].map((at) => entry(at, at + 10, 503))], 'no full service'],
    ['there is a refusal without an outage', [...good, entry(500, 600, 503)], 'although PostgreSQL was there'],
    ['a request has no answer', [...good, entry(1500, 2000, null)], 'without an answer'],
    ['no request met it', calm(4200, 12_000), 'that no request met'],
  ])('fails when %s', (_, tries, what) => expect(judge(tries)).toEqual(expect.arrayContaining(saying(what))))
})

describe('backends', () => {
  const ended = [{ application: 'bayar payments', atWork: true }, { application: 'bayar worker', atWork: false }]
  const made = { ended, from: 1000, to: 9000 }
  const other = calm(0, 10_000, { process: 1 })
  const good = [...calm(0, 10_000), ...other, entry(2000, 2010, 503)]
  const refusals = calm(1000, 9000).map((one) => ({ ...one, status: 503 }))

  test('passes when everything was answered', () => expect(judgeTerminations(good, made, 2)).toEqual([]))

  test.each([
    ['a request has no answer', () => judgeTerminations([...good, entry(2000, 2005, null)], made, 2), 'without an answer'],
    ['many are refused', () => judgeTerminations([...good, ...refusals], made, 2), 'answered 503'],
    ['a process is silent', () => judgeTerminations(good.filter(({ process, began }) => process === 1 || began < 4000 || began > 7500), made, 2), 'payments process 1'],
    ['a process never answers', () => judgeTerminations(other, made, 2), 'payments process 1'],
    ['none was at work', () => judgeTerminations(good, { ...made, ended: ended.slice(1) }, 2), 'at work'],
    ['none was idle', () => judgeTerminations(good, { ...made, ended: ended.slice(0, 1) }, 2), 'idle'],
  ])('fails when %s', (_, failures, what) => expect(failures()).toEqual(saying(what)))

  test('fails when nothing was asked', () => expect(judgeTerminations([], made, 0)).toEqual(saying('no request')))
})

describe('pool', () => {
  const lock = { from: 1000, to: 4000 }
  const health = (status: number, ended: number) => entry(2000, ended, status, { operation: 'getHealth' })
  const good = [...calm(0, 1000), entry(1500, 3000, 503), health(200, 2010), ...calm(4000, 9000)]
  const judge = (tries: Try[]) => judgePool(tries, [lock], 9000)

  test('passes when waiting is bounded and service is back at once', () => expect(judge(good)).toEqual([]))

  test.each([
    ['health is refused', [...good, health(503, 2010)], 'health not answered'],
    ['health is slow', [...good, health(200, 4500)], 'health not answered'],
    ['health was not asked', good.filter(({ operation }) => operation !== 'getHealth'), 'health was not asked'],
    ['a read waits long', [...good, entry(1500, 6600, 200)], 'reads open longer'],
    ['service is back late', [entry(1500, 3000, 503), health(200, 2010), ...calm(5500, 9000)], 'no success within'],
    ['most are refused afterwards', [...good, ...calm(5000, 9000).map((one) => ({ ...one, status: 503 }))], 'still refused'],
    ['nobody met it', good.filter(({ status }) => status !== 503), 'that no request met'],
    ['a request has no answer', [...good, entry(1500, 2000, null)], 'without an answer'],
  ])('fails when %s', (_, tries, what) => expect(judge(tries)).toEqual(expect.arrayContaining(saying(what))))
})

describe('rolling-restart', () => {
  const made = [{ name: 'payments 1', tookMs: 2000, isReady: true }]
  const tries = calm(0, 5000)

  test('passes when every request succeeded', () => expect(judgeRestarts(tries, made, [], 10)).toEqual([]))

  test.each([
    ['one request is refused', () => judgeRestarts([...tries, entry(0, 5, 503)], made, [], 10), 'that failed'],
    ['one has no answer', () => judgeRestarts([...tries, entry(0, 5, null)], made, [], 10), 'that failed'],
    ['a connection was cut', () => judgeRestarts(tries, made, ['read ECONNRESET'], 10), 'ECONNRESET'],
    ['a process is not back', () => judgeRestarts(tries, made.map((one) => ({ ...one, isReady: false })), [], 10), 'restarts that took'],
    ['nothing was restarted', () => judgeRestarts(tries, [], [], 10), 'nothing was restarted'],
    ['there were too few requests', () => judgeRestarts(tries, made, [], 1000), 'only 50 requests'],
  ])('fails when %s', (_, failures, what) => expect(failures()).toEqual(saying(what)))

  test('a callback that is not taken at once fails it, as does none at all', () => {
    expect(judgeCallbacks([{ reference: 'a', status: 200 }])).toEqual([])
    expect(judgeCallbacks([{ reference: 'a', status: 503 }, { reference: 'a', status: 200 }])).toEqual(saying('a: 503'))
    expect(judgeCallbacks([{ reference: 'a', status: null }])).toEqual(saying('a: no answer'))
    expect(judgeCallbacks([])).toEqual(saying('no provider called back'))
  })
})

describe('webhooks', () => {
  const outages = [{ from: 1000, to: 4000 }]

  test('passes when creations are refused only while PostgreSQL is away', () => {
    expect(judgeCreations([...calm(0, 1000), entry(1500, 2000, 503), ...calm(4000, 9000)], outages)).toEqual([])
  })

  test.each([
    ['PostgreSQL is there', entry(500, 600, 503), 'although PostgreSQL was there'],
    ['PostgreSQL is back for long', entry(9500, 9600, 503), 'although PostgreSQL was there'],
    ['a request has no answer', entry(1500, 2000, null), 'without an answer'],
    ['a 503 does not say when to ask again', entry(1500, 2000, 503, { retryAfter: false }), 'without Retry-After'],
    ['something breaks', entry(1500, 2000, 500), 'other than 503'],
  ])('fails when %s', (_, bad, what) => expect(judgeCreations([bad], outages)).toEqual(saying(what)))
})

describe('slow-network', () => {
  const kinds: BadNetwork['kind'][] = ['latency', 'bandwidth', 'silence', 'transaction', 'commit']
  const made = kinds.map((kind, at): BadNetwork => ({ kind, met: 3, from: at * 10_000 + 1000, to: at * 10_000 + 3000 }))
  const good = [...calm(0, 60_000), entry(1500, 1600, 503)]

  test('passes when each trouble was met and is over soon', () => expect(judgeNetwork(good, made, 60_000)).toEqual([]))

  test.each([
    ['a trouble met nothing', () => judgeNetwork(good, made.map((bad) => ({ ...bad, met: 0 })), 60_000), 'met no connection'],
    ['one was left out', () => judgeNetwork(good, made.slice(0, 4), 60_000), 'commit was not tried'],
    ['the pool does not heal', () => judgeNetwork(good.filter(({ began }) => began < 21_000 || began > 29_000), made, 60_000), 'no success within'],
    ['silent connections stop the new', () => judgeNetwork(good.filter(({ began }) => began < 21_000 || began > 23_000), made, 60_000), 'no success at all'],
    ['refusals go on', () => judgeNetwork([...good, entry(9000, 9100, 503)], made, 60_000), '503 later than'],
    ['a request has no answer', () => judgeNetwork([...good, entry(9000, 9100, null)], made, 60_000), 'without an answer'],
  ])('fails when %s', (_, failures, what) => expect(failures()).toEqual(expect.arrayContaining(saying(what))))
})

describe('races', () => {
  const answer = { status: 201, text: '{"id":"a"}' }
  const created = 'payment_intent.created'
  const ending: Ending = {
    id: 'a', asked: ['pay', 'cancel', 'expire'], pay: 200, cancel: 409, expire: 409, status: 'paid', late: false, events: [created, 'payment.completed'],
  }
  const choice: Choice = { id: 'a', kind: 'twins', answers: [201, 201], attempts: ['b', 'b'], status: 'open', events: [created], pending: 1 }

  test('a refusal that says when to ask again passes; one that does not, and no answer, fail', () => {
    expect(judgeRaceAnswers([entry(0, 5, 201), entry(0, 5, 503)])).toEqual([])
    expect(judgeRaceAnswers([entry(0, 5, 503, { retryAfter: false })])).toEqual(saying('without Retry-After'))
    expect(judgeRaceAnswers([entry(0, 5, null)])).toEqual(saying('without an answer'))
  })

  test('the same bytes of one intent pass; another answer, other bytes or a second intent fail', () => {
    expect(judgeRound({ key: 'k', answers: [answer, answer], intents: 1 })).toBeNull()
    expect(judgeRound({ key: 'k', answers: [answer, { status: 409, text: '{}' }], intents: 1 })).toContain('not 201')
    expect(judgeRound({ key: 'k', answers: [answer, { ...answer, text: '{"id": "a"}' }], intents: 1 })).toContain('2 different answers')
    expect(judgeRound({ key: 'k', answers: [answer], intents: 2 })).toContain('2 intents')
  })

  test.each<[string, Partial<Ending>]>([
    ['the payment first', {}],
    ['the cancellation first', { cancel: 200, late: true }],
    ['the expiry first', { expire: 200, late: true, events: [created, 'payment_intent.expired', 'payment.completed'] }],
    ['no payment, the cancellation first', { asked: ['cancel', 'expire'], pay: null, cancel: 200, status: 'cancelled', events: [created] }],
  ])('an ending with %s is legal', (_, change) => expect(judgeEnding({ ...ending, ...change })).toBeNull())

  test.each<[string, Partial<Ending>]>([
    ['two came first', { cancel: 200, expire: 200, late: true }],
    ['paid money is lost', { cancel: 200, status: 'cancelled', events: [created] }],
    ['the payment was not taken', { pay: 503 }],
    ['it is not told late', { cancel: 200 }],
    ['an event is missing', { events: [created] }],
    ['an event is there twice', { events: [created, 'payment.completed', 'payment.completed'] }],
    ['nobody came first', { asked: ['cancel', 'expire'], pay: null, status: 'open', events: [created] }],
    ['an answer is undeclared', { cancel: 500 }],
  ])('an ending is illegal when %s', (_, change) => expect(judgeEnding({ ...ending, ...change })).not.toBeNull())

  test('one attempt is left of choices, the same for twins, and none of what is cancelled', () => {
    expect(judgeChoice(choice)).toBeNull()
    expect(judgeChoice({ ...choice, kind: 'rivals', attempts: ['b', 'c'] })).toBeNull()
    expect(judgeChoice({ ...choice, kind: 'cancel', answers: [409, 200], attempts: [], status: 'cancelled', pending: 0 })).toBeNull()
    for (const change of [
      { attempts: ['b', 'c'] }, { pending: 2 }, { pending: 0 }, { answers: [201, 503] }, { events: [created, created] },
      { kind: 'cancel', answers: [201, 200], status: 'cancelled', pending: 1 }, { kind: 'cancel', answers: [409, 409], status: 'open' },
    ] as const) expect(judgeChoice({ ...choice, ...change }), JSON.stringify(change)).not.toBeNull()
  })
})
