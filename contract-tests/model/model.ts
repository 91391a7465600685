import { outcomesOf } from './outcomes.ts'
import type { Happened, Outcome } from './outcomes.ts'
import { brokenLaws, seenOf } from './seen.ts'
import type { Seen } from './seen.ts'
import type { Act } from './steps.ts'
import { nothing } from './world.ts'
import type { Plan, World } from './world.ts'

/** What the service did and the model does not allow. */
export class Deviation extends Error {}

/** One intent, by everything that it may be after what has been done and seen. */
export interface ModelIntent {
  readonly plan: Omit<Plan, 'taken'>
  /** Never empty. More than one where a fault has left open what was done. */
  worlds: readonly World[]
}

export function modelIntent(plan: ModelIntent['plan']): ModelIntent {
  return { plan, worlds: [nothing] }
}

/** Takes what a step may have made of an intent; `answer` is the status of the answer, unless nobody got one. */
export function allow(intent: ModelIntent, others: readonly ModelIntent[], act: Act, happened: Happened, answer: number | undefined): void {
  const outcomes = takenBy(intent, others).flatMap((taken) => intent.worlds.flatMap((world) => outcomesOf(act, world, { ...intent.plan, taken }, happened)))
  const agreeing = outcomes.filter(({ answers }) => answer === undefined || happened.struck || answers === undefined || answers.includes(answer))
  if (agreeing.length === 0) throw new Deviation(`the answer was ${answer}, allowed: ${answersIn(outcomes)}\n${inWords(intent, happened.now)}`)
  intent.worlds = distinct(agreeing.map(({ world }) => world))
}

/** Whether another intent has the reference; both, where that is open. */
function takenBy(intent: ModelIntent, others: readonly ModelIntent[]): boolean[] {
  const holders = others.filter((other) => other !== intent && other.plan.reference === intent.plan.reference)
  const holds = ({ making, nameless, shown }: World) => (shown && !nameless) || making === 'calling'
  return [true, false].filter((taken) => (taken ? holders.some(({ worlds }) => worlds.some(holds)) : holders.every(({ worlds }) => !worlds.every(holds))))
}

/** Holds what is seen against what is allowed, part by part as far as it was looked at, and keeps the worlds that agree. */
export function compare(intent: ModelIntent, seen: Partial<Seen>, now: number): void {
  const broken = brokenLaws(seen)
  if (broken.length > 0) throw new Deviation(`${broken.join('; ')}: ${text(seen.events ?? [])}`)
  const agreeing = intent.worlds.filter((world) => differences(seenOf(world, now), seen).length === 0)
  if (agreeing.length === 0) {
    const expected = intent.worlds.map((world) => differences(seenOf(world, now), seen).join('\n'))
    throw new Deviation([...new Set(expected)].slice(0, 3).join('\n  or else\n'))
  }
  intent.worlds = agreeing
}

/** Lines that tell two views apart. */
function differences(expected: Seen, seen: Partial<Seen>): string[] {
  const parts = ['intent', 'attempts', 'events', 'cases'] as const
  return parts.flatMap((part) => {
    if (seen[part] === undefined) return []
    const [left, right] = [text(expected[part]), text(seen[part])]
    return left === right ? [] : [`  ${part} should be: ${left}\n  ${' '.repeat(part.length)}       is: ${right}`]
  })
}

function text(value: string | readonly string[] | null): string {
  return typeof value === 'string' ? value : value === null ? 'absent' : `[${value.map((line) => `\n    ${line}`).join('')}]`
}

function distinct(worlds: readonly World[]): World[] {
  return [...new Map(worlds.map((world) => [JSON.stringify(world), world])).values()]
}

function answersIn(outcomes: readonly Outcome[]): string {
  return [...new Set(outcomes.flatMap(({ answers }) => answers ?? []))].join(', ')
}

function inWords({ plan, worlds }: ModelIntent, now: number): string {
  return worlds.slice(0, 3).map((world) => `  ${plan.reference}: ${seenOf(world, now).intent ?? 'absent'}, ${world.making}`).join('\n')
}
