import { randomUUID } from 'node:crypto'
import type { components } from '../../generated/payments.ts'
import type { PaymentsBench } from '../harness/payments.ts'
import type { FaultLine } from './faults.ts'
import { allow, compare, Deviation, modelIntent } from './model.ts'
import type { ModelIntent } from './model.ts'
import { callbackHeaders } from './network.ts'
import type { ChargeView, Letter, ProviderNetwork } from './network.ts'
import type { Happened } from './outcomes.ts'
import { lieAbout, ownersToken, readAll, readRows, readUnfinished } from './reads.ts'
import { attemptSeen, caseSeen, eventSeen, intentSeen } from './seen.ts'
import type { Channel, Job, Step } from './steps.ts'
import { setDatabaseClock } from './databaseClock.ts'

type Schemas = components['schemas']

export interface DriverParts {
  bench: PaymentsBench
  line: FaultLine
  network: ProviderNetwork
  recover(job: Job): Promise<void>
}

/** An intent of a sequence: what the model knows of it, and how it is addressed. */
interface Actor {
  model: ModelIntent
  key: string | undefined
  body: Schemas['PaymentIntentCreate']
  /** Null until its row is there. */
  id: string | null
  shortcode: string | null
}

type Done = { target: Actor | null, answer?: number | undefined, struck?: boolean, letters?: readonly Letter[] }

/** Each step takes a moment of its own, so that nothing is as old as something else. */
const tickMs = 7

/** A sequence of steps by a merchant of its own, each held against the model as soon as it is done. */
export interface Story {
  /** False: there was nothing that the step could be done to. */
  step(step: Step): Promise<boolean>
  /** Lets all work that is left be done, without faults, past every deadline; then nothing may be open. */
  settle(): Promise<void>
}

export async function startStory({ bench, line, network, recover }: DriverParts): Promise<Story> {
  const { call, clock, configuration, credential, database, given, simulator } = bench
  const merchant = await given.merchant({ channels: paidBy })
  const as = await given.apiKey(merchant)
  const actors: Actor[] = []
  /** Whose charge is asked for under a key. */
  const owners = new Map<string, Actor>()
  /** References of payments that must be recorded in the end, and amounts. */
  const proven = new Map<string, { actor: Actor, amount: number }>()
  const owner = ownersToken(bench, merchant)
  let lies = 0
  network.forget()
  bench.logged.length = 0

  const pass = async (milliseconds: number): Promise<void> => {
    clock.advance(milliseconds)
    await setDatabaseClock(database, clock.now())
  }

  const chargeAt = (at: number): ChargeView | undefined => [...network.charges.values()][at % Math.max(network.charges.size, 1)]
  const actorAt = (at: number): Actor | undefined => actors[at % Math.max(actors.length, 1)]

  const deliver = async (letter: Letter, secret = credential.secret): Promise<number> => {
    const answer = await bench.send('receivePspWebhook', {
      params: { provider: 'simulator', credentialId: credential.id }, body: letter.body, headers: callbackHeaders(secret, letter.body, clock.now()),
    })
    return answer.status
  }

  /** Does the service's part of a step, as the step's network and fault have it. */
  const perform = async (step: Pick<Step, 'mood' | 'fault'>, target: Actor | null, work: () => Promise<{ status: number } | void>): Promise<Done> => {
    const known = network.delivered.length
    network.mood = step.mood ?? 'well'
    const { result, struck } = await line.during(step.fault, work)
    network.mood = 'well'
    network.deliversAtOnce = false
    return { target, struck, answer: result?.status, letters: network.delivered.slice(known) }
  }

  const receive = async (step: Pick<Step, 'mood' | 'fault'>, letter: Letter, keep = false): Promise<Done> => {
    const done = await perform(step, owners.get(letter.key) ?? null, async () => ({ status: await deliver(letter) }))
    if (!done.struck && done.answer !== 200) throw new Deviation(`a callback was answered ${done.answer}`)
    network.delivered.push(letter)
    // Its provider sends it again until it is told that it has arrived.
    if (keep || done.struck) network.letters.push(letter)
    else if (letter.paymentReference !== null && letter.status === 'paid' && isTrue(letter)) prove(letter.key, letter.paymentReference, letter.amount)
    return { ...done, answer: undefined, letters: [letter] }
  }

  const isTrue = ({ key, merchantReference, paymentReference, amount, currency }: Letter): boolean => {
    const charge = network.charges.get(key)
    return currency === 'IDR' && merchantReference === charge?.merchant_reference
      && charge.payments.some((payment) => payment.reference === paymentReference && payment.amount_idr === amount)
  }

  const prove = (key: string, reference: string, amount: number): void => {
    const actor = owners.get(key)
    if (actor) proven.set(reference, { actor, amount })
  }

  /** Moves a charge in its payer's or provider's stead; what is told of it is delivered, or waits. */
  const move = async (step: Step, charge: ChargeView, how: string, options: object, tells: boolean): Promise<Done> => {
    const waiting = network.letters.length
    const { charge: after } = await simulator.move(charge.reference, how, { ...options })
    network.see(after)
    const [letter] = tells ? network.letters.splice(waiting) : []
    return letter ? receive(step, letter) : { target: owners.get(charge.key) ?? null, letters: [] }
  }

  const statusOf = ({ status, expires_at }: ChargeView): string => (status === 'pending' && Date.parse(expires_at) <= clock.now().getTime() ? 'expired' : status)

  const create = (step: Step, actor: Actor): Promise<Done> => perform(step, actor, () =>
    call('createPaymentIntent', { as, body: actor.body, ...(actor.key !== undefined && { key: actor.key }) }))

  /** Null: nothing to be done. */
  const act = async (step: Step): Promise<Done | null> => {
    switch (step.do) {
      case 'create': {
        const { channels, amount, uses, seconds, pos = false, keyed = false } = step
        const own = `i${actors.length}-${randomUUID()}`
        const reference = (step.reference === undefined ? undefined : actorAt(step.reference)?.model.plan.reference) ?? own
        const model = modelIntent({ reference, amount, uses, channels, pos, keyed, seconds })
        const actor: Actor = {
          model, id: null, shortcode: null, key: keyed ? own : undefined,
          body: {
            amount_idr: amount, max_uses: uses, reference_id: reference, ...(pos ? { channel: channels[0] ?? 'cash' } : { allowed_channels: [...channels] }),
            ...(seconds !== undefined && { expires_in_seconds: seconds }),
          },
        }
        actors.push(actor)
        return create(step, actor)
      }
      case 'wait': {
        await pass(step.seconds * 1000)
        return { target: null }
      }
      case 'wait for deadline': {
        const deadline = actorAt(step.intent)?.model.worlds[0]?.deadline ?? null
        const left = deadline === null ? 0 : deadline - clock.now().getTime() + step.seconds * 1000
        if (left <= 0) return null
        await pass(left)
        return { target: null }
      }
      case 'run': return perform(step, null, () => recover(step.job))
      case 'deliver': {
        const [letter] = network.letters.splice(step.letter % Math.max(network.letters.length, 1), 1)
        return letter ? receive(step, letter, step.keep) : null
      }
      case 'deliver forged': {
        const letter = network.letters[step.letter % Math.max(network.letters.length, 1)] ?? network.delivered[0]
        if (!letter) return null
        const status = await deliver(letter, randomUUID())
        if (status !== 401) throw new Deviation(`a forged callback was answered ${status}`)
        return { target: null }
      }
      case 'pay':
      case 'decline':
      case 'expire at provider':
      case 'reverse':
      case 'deliver lie': {
        const charge = chargeAt(step.charge)
        return charge ? actOnCharge(step, charge) : null
      }
      default: {
        const actor = actorAt(step.intent)
        return actor ? actOnIntent(step, actor) : null
      }
    }
  }

  const actOnCharge = async (step: Extract<Step, { charge: number }>, charge: ChargeView): Promise<Done | null> => {
    const status = statusOf(charge)
    switch (step.do) {
      case 'pay': {
        if (status !== 'pending' && !step.late) return null
        const amount = charge.amount_idr + (step.amount === 'wrong' ? 1000 : 0)
        const known = charge.payments.length
        const done = await move(step, charge, 'pay', { force: true, amount_idr: amount }, step.tell)
        const payment = network.charges.get(charge.key)?.payments[known]
        // Money that came while the charge could be paid is found although nobody tells of it.
        if (payment && status === 'pending') prove(charge.key, payment.reference, amount)
        return done
      }
      case 'decline': return status === 'pending' && !charge.multi_use ? move(step, charge, 'decline', {}, step.tell) : null
      case 'expire at provider': return charge.status === 'pending' ? move(step, charge, 'expire', {}, step.tell) : null
      case 'reverse': return charge.payments.some(({ reversed }) => !reversed) ? move(step, charge, 'reverse', {}, step.tell) : null
      case 'deliver lie': return receive(step, lieAbout(charge, step.about, lies += 1, clock.now()))
    }
  }

  const actOnIntent = async (step: Exclude<Extract<Step, { intent: number }>, { do: 'wait for deadline' }>, actor: Actor): Promise<Done | null> => {
    const { id, shortcode, model } = actor
    if (step.do === 'create again') return actor.key === undefined ? null : create(step, actor)
    if (id === null || shortcode === null) return null
    const params = { id }
    switch (step.do) {
      case 'choose': {
        const { channels, pos } = model.plan
        const channel = pos ? channels[0] : channels[step.channel % (channels.length + 1)]
        return perform(step, actor, () => call('choosePublicCheckoutChannel', { params: { shortcode }, body: { channel: channel ?? 'otc_store_b' } }))
      }
      case 'cancel': return perform(step, actor, () => call('cancelPaymentIntent', { as, params }))
      case 'confirm cash': {
        const amount_idr = model.plan.amount + (step.amount === 'wrong' ? 1 : 0)
            const token = await owner()
        return perform(step, actor, () => call('confirmCashPayment', { as: token, params, body: { amount_idr } }))
      }
      case 'complete in sandbox':
        network.deliversAtOnce = true
        return perform(step, actor, () => call('sandboxCompletePaymentIntent', { as, params }))
      case 'expire in sandbox':
        network.deliversAtOnce = true
        return perform(step, actor, () => call('sandboxExpirePaymentIntent', { as, params }))
      case 'answer 3DS': {
        network.deliversAtOnce = true
        const { SANDBOX_APPROVE_CODE: approve, SANDBOX_DECLINE_CODE: decline } = configuration
        const code = { approve, decline, unknown: '0000000000000000' }[step.code]
        return perform(step, actor, () => call('completeThreeDsChallenge', { params, query: { auth_code: code } }))
      }
    }
  }

  /** Takes in what has been done, and which charges have been begun. */
  const takeIn = async (step: Step, { target, answer, struck = false, letters = [] }: Done): Promise<void> => {
    if (answer === 500) throw new Deviation('the answer was 500')
    const rows = await readRows(bench, merchant.id)
    const now = clock.now().getTime()
    const begun = new Map<Actor, Happened['begun'][number][]>()
    for (const { id, shortcode, reference_id, key, channel } of rows) {
      const actor = actors.find((known) => known.id === id) ?? (target?.id === null && target.model.plan.reference === reference_id ? target : null)
      if (!actor) throw new Deviation(`${reference_id}: there are two intents`)
      Object.assign(actor, { id, shortcode })
      if (key === null || channel === null || owners.has(key)) continue
      owners.set(key, actor)
      begun.set(actor, [...begun.get(actor) ?? [], { key, channel }])
    }
    for (const actor of actors) {
      const told = network.told.filter(({ key }) => owners.get(key) === actor)
      const happened: Happened = { now, struck, begun: begun.get(actor) ?? [], told, letters: letters.filter(({ key }) => owners.get(key) === actor) }
      if (actor === target || told.length > 0 || happened.begun.length > 0 || step.do === 'run') allow(actor.model, actors.map(({ model }) => model), step, happened, actor === target ? answer : undefined)
    }
    network.told = []
  }

  /**
   * Looks at everything through the API. `target`: the intents are not listed, but this one is read. Without `withCases`
   * nothing has come that could have opened one.
   */
  const look = async (target: Actor | null, withCases: boolean): Promise<void> => {
    const now = clock.now().getTime()
    const [intents, payments, events, cases] = await Promise.all([
      target ? read(target) : readAll<'intents', Schemas['PaymentIntent']>((query) => call('listPaymentIntents', { as, query }), 'intents'),
      readAll<'payments', Schemas['PaymentAttempt']>((query) => call('listPayments', { as, query }), 'payments'),
      readAll<'events', Schemas['MerchantEvent']>((query) => call('listEvents', { as, query }), 'events'),
      withCases ? owner().then((token) => readAll<'cases', Schemas['Case']>((query) => call('listCases', { as: token, query }), 'cases')) : null,
    ])
    const strangers = intents.filter(({ id }) => !actors.some((actor) => actor.id === id))
    if (strangers.length > 0) throw new Deviation(`${strangers.length} intents are listed that nobody created`)
    for (const actor of actors) {
      const intent = intents.find(({ id }) => id === actor.id)
      compare(actor.model, {
        ...(target === null || target === actor ? { intent: intent ? intentSeen(intent) : null } : {}),
        attempts: payments.filter(({ intent_id }) => intent_id === actor.id).map(attemptSeen).sort(),
        events: events.filter(({ data }) => (data as { intent?: { id: string } }).intent?.id === actor.id).map(eventSeen).reverse(),
        ...(cases && { cases: cases.filter(({ provider_reference }) => owners.get(keyOf(provider_reference)) === actor).map(caseSeen).sort() }),
      }, now)
    }
  }

  const keyOf = (paymentReference: string | null): string =>
    [...network.charges.values()].find(({ reference }) => paymentReference?.startsWith(reference))?.key ?? ''

  const read = async ({ id }: Actor) => {
    if (id === null) return []
    const answer = await call('getPaymentIntent', { as, params: { id } })
    return answer.status === 200 ? [answer.body] : []
  }

  /** Whatever has ended must not be left payable at the provider. */
  const assertWithdrawn = (): void => {
    for (const charge of network.charges.values()) {
      const isOver = owners.get(charge.key)?.model.worlds.every(({ attempts }) => ['expired', 'failed'].includes(attempts.find(({ key }) => key === charge.key)?.status ?? ''))
      if (isOver && statusOf(charge) === 'pending') throw new Deviation(`the charge ${charge.reference} can still be paid, its attempt has ended`)
    }
  }

  const assertRecorded = (): void => {
    for (const [reference, { actor, amount }] of proven) {
      const { plan, worlds } = actor.model
      const isKnown = worlds.every(({ attempts, cases }) => attempts.some((attempt) => attempt.reference === reference)
        || (amount !== plan.amount && cases.some((text) => text.startsWith(`payment_mismatch ${reference} `))))
      if (!isKnown) throw new Deviation(`${amount} rupiah were paid as ${reference} and are nowhere`)
    }
  }

  const settleRound = async (seconds: number): Promise<void> => {
    await pass(seconds * 1000)
    for (const job of settleJobs) await takeIn({ do: 'run', job }, { ...await perform({}, null, () => recover(job)), letters: network.delivered })
  }

  return {
    async step(step) {
      await pass(tickMs)
      const done = await act(step)
      if (!done) return false
      const isOfAll = ['run', 'wait', 'wait for deadline'].includes(step.do)
      const withCases = network.told.length > 0
      await takeIn(step, { ...done, ...(step.do === 'run' && { letters: network.delivered }) })
      await look(isOfAll ? null : done.target, withCases)
      return true
    },
    async settle() {
      // Past every lease, retry and look of the reconciler, then past every deadline, and all of it once more.
      for (const seconds of [35, 665, 4000]) await settleRound(seconds)
      await look(null, true)
      assertWithdrawn()
      const ends = actors.flatMap(({ model }) => model.worlds.map(({ deadline }) => deadline ?? 0))
      await settleRound(Math.max(1, Math.ceil((Math.max(...ends, 0) - clock.now().getTime()) / 1000) + 1))
      for (const seconds of [135, 7300, 7300]) await settleRound(seconds)
      await look(null, true)
      assertRecorded()
      const left = await readUnfinished(bench, merchant.id)
      if (left.length > 0) throw new Deviation(`work is left: ${left.join(', ')}`)
    },
  }
}

const paidBy: readonly Channel[] = ['qris', 'va_bank_a', 'ewallet_wallet_a', 'otc_store_a', 'paylater_a', 'card_3ds', 'cash']
/** Expiry first: it asks for withdrawals. */
const settleJobs: readonly Job[] = ['expiry', 'charge sweep', 'callbacks', 'reconciler', 'withdrawals']
