import type { Guard } from './exchange.ts'
import { limitBasis } from './guards/rateLimit.ts'
import type { CallerKind, Operation } from './operation.ts'

/**
 * The one order in which a request is refused (architecture, "A request"; decision 5.2). A service leaves out what it
 * has no operation for.
 */
export const guardOrder = [
  'host',
  'environment',
  'authenticate',
  'module',
  'authorize',
  'stepUp',
  'rateLimit',
  'validation',
  'clientRateLimit',
  'replay',
  'feature',
  'openShop',
  'captcha',
] as const
type GuardName = (typeof guardOrder)[number]

const byHost: readonly CallerKind[] = ['bff', 'shopper']
const selfProving: readonly CallerKind[] = ['public', 'signed-link', 'provider', ...byHost]

/** Why the guards of a service do not stand as written, one line each. */
export function orderProblems(guards: readonly Guard[]): string[] {
  const places = guards.map(({ name }) => guardOrder.indexOf(name as GuardName))
  return guards.flatMap(({ name }, index) => {
    const place = places[index] ?? -1
    if (place < 0) return [`the guard ${name} has no place in the written order`]
    return places.slice(0, index).some((earlier) => earlier >= place)
      ? [`the guard ${name} stands after one that it must precede`]
      : []
  })
}

/** Guards that an operation needs and the service does not have, each with the rule that would go unenforced. */
export function missingGuards(operation: Operation, guards: readonly Guard[]): { name: GuardName; rule: string }[] {
  const {
    caller: { kind },
    rules,
  } = operation
  const basis = limitBasis(operation)
  const needs: Record<GuardName, string | false> = {
    host: byHost.includes(kind) && 'x-caller',
    environment: rules.has('x-environment') && 'x-environment',
    authenticate: kind !== 'public' && 'x-caller',
    module: rules.has('x-module') && 'x-module',
    authorize: !selfProving.includes(kind) && 'x-caller',
    stepUp: rules.has('x-step-up') && 'x-step-up',
    rateLimit: (basis === 'caller' || basis === 'address') && 'x-rate-limit',
    validation: 'its parameters and body',
    clientRateLimit: basis === 'client' && 'x-rate-limit',
    replay: rules.has('x-idempotency') && 'x-idempotency',
    feature: (kind === 'shopper' || rules.has('x-feature')) && 'x-feature',
    openShop: rules.has('x-when-closed') && 'x-when-closed',
    captcha: rules.has('x-captcha') && 'x-captcha',
  }
  return guardOrder.flatMap((name) => {
    const rule = needs[name]
    return rule === false || guards.some((guard) => guard.name === name) ? [] : [{ name, rule }]
  })
}
