import { giveUpCallback, learnCallback, learnCharge, learnPayments } from './facts.ts'
import type { ChargeView, Letter, Told } from './network.ts'
import type { Act, Channel } from './steps.ts'
import { attemptOf, deadlineOf, endAttempts, expire, isClosed, isPast, newAttempt, nothing, record, reveal, tell, withAttempt } from './world.ts'
import type { Plan, World } from './world.ts'

/** A charge that the service has begun to ask for. */
export interface Begun {
  key: string
  channel: Channel
}

/** What a step came to, as far as it concerns one intent and can be seen from outside it. */
export interface Happened {
  now: number
  /** A fault struck: whatever was to be done may have been done in part, or not at all. */
  struck: boolean
  begun: readonly Begun[]
  told: readonly Told[]
  /** Callbacks that this step may have processed. */
  letters: readonly Letter[]
}

/** An intent as it may be after a step, and the answers that go with it; without `answers` there was no question, or any will do. */
export interface Outcome {
  world: World
  answers?: readonly number[]
}

type Telling = (world: World, told: Told) => readonly World[]

/** Whatever an act may have made of an intent that was `world` before. */
export function outcomesOf(act: Act, world: World, plan: Plan, happened: Happened): Outcome[] {
  switch (act.do) {
    case 'create':
    case 'create again': return creations(world, plan, happened)
    case 'choose': return choices(world, plan, happened, act.channel)
    case 'cancel': return cancellations(world, happened)
    case 'confirm cash': return cash(world, plan, happened, act.amount === 'wrong' ? plan.amount + 1 : plan.amount)
    case 'complete in sandbox': return completions(world, plan, happened)
    case 'expire in sandbox': return expirations(world, plan, happened)
    case 'run': return runs(world, plan, happened, act.job)
    case 'wait':
    case 'wait for deadline': return [{ world }]
    default: return told([world], happened, learning(plan, happened))
  }
}

/** Worlds after everything that was told; where a fault struck, any of it may have been lost. */
function told(worlds: readonly World[], { told: all, struck }: Happened, telling: Telling): Outcome[] {
  const after = all.reduce<readonly World[]>((before, item) => [...struck ? before : [], ...before.flatMap((world) => telling(world, item))], worlds)
  return after.map((world) => ({ world }))
}

/** What callbacks make of a charge that was asked about for their sake; without any, what the reconciler makes of it. */
function learning(plan: Plan, { letters, now }: Happened): Telling {
  return (world, item) => {
    if (item.by !== 'find' || !('charge' in item)) return [world]
    const about = letters.filter(({ key }) => key === item.key)
    if (about.length === 0) return [learnCharge(world, plan, item.charge, now)]
    return about.map((letter) => learnCallback(world, plan, letter, item.charge, now))
  }
}

function creations(world: World, plan: Plan, happened: Happened): Outcome[] {
  const { begun, now, struck } = happened
  if (world.making === 'calling') return finished([world], plan, happened)
  if (world.making === 'refused') return [{ world, answers: [422] }]
  if (world.making !== 'none') return [{ world, answers: [201] }]
  const [channel, ...more] = plan.channels
  const begin: World = { ...nothing, deadline: deadlineOf(plan, now) }
  const untouched: Outcome[] = struck ? [{ world }] : []
  if (plan.taken) return [{ world, answers: [409] }]
  if (channel && more.length === 0 && channel !== 'cash') {
    const [begunNow] = begun
    if (!begunNow) return untouched
    const calling: World = { ...begin, making: 'calling', current: 0, attempts: [newAttempt(begin, plan, channel, begunNow.key, now)] }
    return finished([calling], plan, happened)
  }
  const attempts = channel === 'cash' && more.length === 0 ? [newAttempt(begin, plan, channel, null, now)] : []
  const made: World = { ...begin, making: 'made', attempts, current: attempts.length > 0 ? 0 : null }
  return [...untouched, { world: reveal(made, plan, now), answers: [201] }]
}

/** After what was told of a creation's charge: made, refused, or unanswered still. */
function finished(worlds: readonly World[], plan: Plan, happened: Happened): Outcome[] {
  return told(worlds, happened, (world, item) => [
    finishCreation(world, plan, item, happened.now), ...callbackIn(world, plan, item, happened),
  ]).map(({ world }) => ({ world, answers: [answerOf(world)] }))
}

/** The charge may have been asked about because a callback came in between. */
function callbackIn(world: World, plan: Plan, item: Told, happened: Happened): readonly World[] {
  return item.by === 'find' && happened.letters.some(({ key }) => key === item.key) ? learning(plan, happened)(world, item) : []
}

function answerOf({ making }: World): number {
  return making === 'made' ? 201 : making === 'refused' ? 422 : 503
}

function finishCreation(world: World, plan: Plan, item: Told, now: number): World {
  const at = attemptOf(world, item.key)
  if ('refused' in item) return { ...withAttempt(world, at, { status: 'failed', failure: item.refused }), status: 'failed', making: 'refused' }
  if (!('charge' in item)) return world
  return learnPayments(reveal({ ...fill(world, at, item.charge), making: 'made' }, plan, now), plan, item.charge, now)
}

/** Notes what the provider answered, never over what is known already. */
function fill(world: World, at: number, { reference }: ChargeView): World {
  return withAttempt(world, at, { charged: true, reference: world.attempts[at]?.reference ?? reference })
}

function choices(world: World, plan: Plan, happened: Happened, wish: number): Outcome[] {
  // A terminal's intent has no page to choose on.
  if (!world.shown || plan.pos) return [{ world, answers: [404] }]
  if (isClosed(world, happened.now)) return [{ world, answers: [409] }]
  const channel = plan.channels[wish % (plan.channels.length + 1)]
  if (!channel) return [{ world, answers: [422] }]
  return chosen(world, plan, happened, channel)
}

function chosen(world: World, plan: Plan, happened: Happened, channel: Channel): Outcome[] {
  if (isLive(world, plan, channel, happened.now)) return [{ world, answers: [201] }]
  const { begun: [begun], now, struck } = happened
  const untouched: Outcome[] = struck ? [{ world, answers: [] }] : []
  const { choosing } = world
  if (choosing !== null && channel === 'cash') return [{ world, answers: [503] }, { world: withCash(giveUp(world, choosing), plan, now), answers: [201] }]
  if (channel === 'cash') return [...untouched, { world: withCash(world, plan, now), answers: [201] }]
  if (choosing !== null && !begun) {
    const sameChannel = world.attempts[choosing]?.channel === channel
    const taken = sameChannel ? taking([world], plan, happened, choosing) : [{ world, answers: [503] }]
    // A lapsed choice of another channel may have been given up, and the new one lost.
    return struck ? [...untouched, ...taken, { world: giveUp(world, choosing) }] : taken
  }
  if (!begun) return untouched
  const free = choosing === null ? world : giveUp(world, choosing)
  const at = free.attempts.length
  const started = taking([{ ...free, attempts: [...free.attempts, newAttempt(free, plan, channel, begun.key, now)], choosing: at }], plan, happened, at)
  return [...untouched, ...started]
}

/** Cash needs nobody's answer. */
function withCash(world: World, plan: Plan, now: number): World {
  return replaceOlder({ ...world, attempts: [...world.attempts, newAttempt(world, plan, 'cash', null, now)] }, plan, world.attempts.length)
}

/** Whether choosing the channel answers an attempt that is there. */
function isLive({ attempts, current }: World, { uses }: Plan, channel: Channel, now: number): boolean {
  const canBePaid = ({ status, endsAt, channel: code }: World['attempts'][number]) => status === 'pending' && code === channel && (endsAt === null || endsAt > now)
  if (uses !== 1) return attempts.some((attempt) => attempt.standing && canBePaid(attempt) && (attempt.charged || channel === 'cash'))
  const attempt = current === null ? undefined : attempts[current]
  return attempt !== undefined && canBePaid(attempt)
}

/** After what was told of a choice's charge. */
function taking(worlds: readonly World[], plan: Plan, happened: Happened, at: number): Outcome[] {
  const answersTo = ({ choosing, attempts }: World) => (choosing === at ? [503] : attempts[at]?.status === 'failed' ? [422] : [201])
  return told(worlds, happened, (world, item) => [
    finishChoice(world, plan, item, happened.now), ...callbackIn(world, plan, item, happened),
  ]).map(({ world }) => ({ world, answers: answersTo(world) }))
}

function finishChoice(world: World, plan: Plan, item: Told, now: number): World {
  const at = attemptOf(world, item.key)
  if (at !== world.choosing) return world
  const done = { ...world, choosing: null }
  if ('refused' in item) return withAttempt(done, at, { status: 'failed', failure: item.refused })
  if (!('charge' in item)) return world
  const filled = fill(done, at, item.charge)
  const isOpen = !isClosed(world, now)
  const status = filled.attempts[at]?.status
  const isPaid = status === 'succeeded' || item.charge.payments.some(({ reversed }) => !reversed)
  const taken = isOpen && status === 'pending' ? replaceOlder(filled, plan, at)
    : isPaid ? { ...filled, current: at }
      : !isOpen && status === 'pending' ? withAttempt(filled, at, { status: 'expired' }) : filled
  return learnPayments(taken, plan, item.charge, now)
}

/** Makes an attempt the current one; of a single-use intent the older ones end. */
function replaceOlder(world: World, { uses }: Plan, at: number): World {
  const current = { ...world, current: at }
  return uses === 1 ? endAttempts(current, at) : current
}

function giveUp(world: World, choosing: number): World {
  const given = { ...world, choosing: null }
  return given.attempts[choosing]?.status === 'pending' ? withAttempt(given, choosing, { status: 'expired' }) : given
}

function cancellations(world: World, { now, struck }: Happened): Outcome[] {
  if (!world.shown) return [{ world, answers: [404] }]
  if (isClosed(world, now)) return [{ world, answers: [409] }]
  const cancelled: Outcome = { world: endAttempts({ ...world, status: 'cancelled' }), answers: [200] }
  return struck ? [{ world }, cancelled] : [cancelled]
}

function cash(world: World, plan: Plan, { now, struck }: Happened, amount: number): Outcome[] {
  if (!world.shown) return [{ world, answers: [404] }]
  if (isClosed(world, now) || !plan.channels.includes('cash')) return [{ world, answers: [409] }]
  if (plan.uses === 1 && amount !== plan.amount) return [{ world, answers: [400] }]
  const confirmed: Outcome = { world: confirmCash(world, plan, amount, now), answers: [200] }
  return struck ? [{ world }, confirmed] : [confirmed]
}

function confirmCash(world: World, plan: Plan, amount: number, now: number): World {
  const pending = world.attempts.findLastIndex(({ channel, status }) => channel === 'cash' && status === 'pending')
  const attempts = pending === -1 ? [...world.attempts, newAttempt(world, plan, 'cash', null, now)] : world.attempts
  const at = pending === -1 ? world.attempts.length : pending
  const uses = world.uses + 1
  const isLast = plan.uses !== 0 && uses === plan.uses
  const counted: World = { ...world, attempts, uses, paid: world.paid + amount, ...(isLast && { status: 'paid', paidAt: now, current: at }) }
  const [recorded, where] = record(counted, at, { reference: null, amount, completedAt: now })
  const done = tell(recorded, now, 'payment.completed', recorded.attempts[where])
  return isLast ? endAttempts(done) : done
}

/** What sandbox-complete would move: the newest attempt that can be paid. */
function liveAttempt({ attempts }: World, now: number): World['attempts'][number] | undefined {
  return attempts.findLast(({ status, endsAt, charged, channel }) =>
    status === 'pending' && (charged || channel === 'cash') && (endsAt === null || endsAt > now))
}

function completions(world: World, plan: Plan, happened: Happened): Outcome[] {
  const { now } = happened
  if (!world.shown) return [{ world, answers: [404] }]
  if (isClosed(world, now)) return [{ world, answers: [409] }]
  const live = liveAttempt(world, now)
  const channel = live?.channel ?? plan.channels.find((code) => code !== 'card_3ds')
  if (channel === undefined || channel === 'card_3ds') return [{ world, answers: [409] }]
  if (channel === 'cash') return cash(world, plan, happened, plan.amount)
  if (live) return told([world], happened, learning(plan, happened))
  // A terminal's one attempt is made with its intent.
  if (plan.pos) return [{ world, answers: [422] }]
  // The payer's choice comes first; what it is answered is this request's answer, unless it goes on to pay.
  return chosen(world, plan, happened, channel).map(({ world: after }) => ({ world: after }))
}

function expirations(world: World, plan: Plan, happened: Happened): Outcome[] {
  if (!world.shown) return [{ world, answers: [404] }]
  if (isClosed(world, happened.now)) return [{ world, answers: [409] }]
  const live = liveAttempt(world, happened.now)
  const learnt = told([world], happened, learning(plan, happened)).map(({ world: after }) => after)
  const ended = learnt.map((after): Outcome => (after.status === 'open' ? { world: expire(after, happened.now), answers: [200] } : { world: after, answers: [200, 409] }))
  // Its provider may have said nothing, or be overtaken by an end of another kind.
  const left = happened.struck || (live?.key && happened.told.length === 0) ? learnt.map((after) => ({ world: after, answers: [200, 503] })) : []
  return [...ended, ...left]
}

function runs(world: World, plan: Plan, happened: Happened, job: Extract<Act, { do: 'run' }>['job']): Outcome[] {
  const { now, struck } = happened
  switch (job) {
    case 'expiry': {
      if (!world.shown) return [{ world }]
      const first = isPast(world, now) ? expire(world, now) : world
      const second = { ...first, attempts: first.attempts.map((attempt) => (isDue(attempt, now) ? { ...attempt, status: 'expired' as const } : attempt)) }
      return struck ? [{ world }, { world: first }, { world: second }] : [{ world: second }]
    }
    case 'charge sweep': {
      const { choosing } = world
      if (world.making === 'calling') return sweeps(world, plan, happened)
      return choosing === null ? [{ world }] : [{ world }, { world: giveUp(world, choosing) }]
    }
    case 'withdrawals': return told([world], happened, (before, item) => [withdraw(before, plan, item, now)])
    case 'callbacks': return told([world], happened, retrying(plan, happened))
    case 'reconciler': return told([world], happened, learning(plan, { ...happened, letters: [] }))
  }
}

/** What a callback that is tried again makes of its charge: by now it may be given up. */
function retrying(plan: Plan, happened: Happened): Telling {
  const learn = learning(plan, happened)
  return (world, item) => {
    const learnt = learn(world, item)
    const denied = 'charge' in item ? happened.letters.filter((letter) =>
      letter.key === item.key && !item.charge.payments.some(({ reference }) => reference === letter.paymentReference)) : []
    return [...learnt, ...learnt.flatMap((after) => denied.map((letter) => giveUpCallback(after, letter)))]
  }
}

function isDue({ status, endsAt }: World['attempts'][number], now: number): boolean {
  return status === 'pending' && endsAt !== null && endsAt <= now
}

/** A creation that nobody holds: finished for whoever can ask for it by its key, else withdrawn. */
function sweeps(world: World, plan: Plan, happened: Happened): Outcome[] {
  const isOverdue = world.deadline !== null && world.deadline <= happened.now
  if (plan.keyed && !isOverdue) return told([world], happened, (before, item) => [finishCreation(before, plan, item, happened.now)])
  return told([world], happened, (before, item) => [abandon(before, plan, item, happened.now)])
}

function abandon(world: World, plan: Plan, item: Told, now: number): World {
  if (item.by === 'find' && !('absent' in item)) return world
  const at = attemptOf(world, item.key)
  const ended = world.attempts[at]?.status === 'pending' ? withAttempt(world, at, { status: 'expired' }) : world
  const shown = plan.keyed ? reveal(ended, plan, now) : ended
  const expired: World = shown.status !== 'open' ? shown : shown.shown ? tell({ ...shown, status: 'expired' }, now, 'payment_intent.expired') : { ...shown, status: 'expired' }
  const done: World = { ...expired, making: 'abandoned' }
  return 'charge' in item ? learnPayments(done, plan, item.charge, now) : done
}

function withdraw(world: World, plan: Plan, item: Told, now: number): World {
  if (item.by === 'find' && !('absent' in item)) return world
  const at = attemptOf(world, item.key)
  const paid = 'charge' in item ? learnPayments(world, plan, item.charge, now) : world
  return paid.attempts[at]?.status === 'pending' ? withAttempt(paid, at, { status: 'expired' }) : paid
}
