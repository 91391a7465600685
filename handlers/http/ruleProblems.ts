import { errors } from '../../generated/errors.ts'
import { clientPermissions, permissions, scopes } from '../../generated/roles.ts'
import { limitBasis } from './guards/rateLimit.ts'
import type { CallerKind, Operation } from './operation.ts'

/** Says why a value would not be enforced as it stands; undefined when it would. */
type Check = (value: unknown) => string | undefined

const oneOf =
  (...allowed: readonly unknown[]): Check =>
  (value) =>
    allowed.includes(value) ? undefined : `must be ${allowed.map(String).join(' or ')}`
const word: Check = (value) => (typeof value === 'string' && value !== '' ? undefined : 'must be a name')
const listOf =
  (what: string, test: (entry: unknown) => boolean): Check =>
  (value) =>
    Array.isArray(value) && value.length > 0 && value.every(test) ? undefined : `must be a list of ${what}`

/** A guard compares with these very values: another one would switch it off in silence. */
const values: Record<string, Check> = {
  'x-environment': oneOf('sandbox', 'production'),
  'x-module': word,
  'x-step-up': oneOf(true),
  'x-rate-limit': oneOf('caller', 'address', 'client', 'none'),
  'x-idempotency': oneOf('optional'),
  'x-feature': word,
  'x-when-closed': oneOf('refuse'),
  'x-captcha': oneOf(true),
  'x-transaction': oneOf('none', 'query', 'read', 'write', 'two-step'),
  'x-body': oneOf('ignored', 'raw'),
  'x-max-body': (value) =>
    Number.isSafeInteger(value) && (value as number) > 0 ? undefined : 'must be a number of bytes above 0',
  'x-cors': oneOf('open'),
  'x-ignored-query': listOf('names of query parameters', (entry) => typeof entry === 'string' && entry !== ''),
  'x-errors': listOf(
    'error codes of the catalogue',
    (entry) => typeof entry === 'string' && Object.hasOwn(errors, entry),
  ),
}

type Member = 'scope' | 'permission'
const members: Record<CallerKind, Member | undefined> = {
  merchant: 'scope',
  console: 'permission',
  tenant: 'permission',
  admin: 'permission',
  seller: 'permission',
  service: 'permission',
  user: undefined,
  credential: undefined,
  public: undefined,
  'signed-link': undefined,
  provider: undefined,
  bff: undefined,
  shopper: undefined,
}
const withStepUp: readonly CallerKind[] = ['console', 'tenant', 'admin', 'user', 'seller']
const atStorefront: readonly CallerKind[] = ['bff', 'shopper']
const withoutTenant: readonly CallerKind[] = ['public', 'signed-link', 'provider']

/** Why the rules of an operation cannot be enforced, one line each: `spec/README.md`, keys of an operation. */
export function ruleProblems(operation: Operation): string[] {
  return [
    ...valueProblems(operation),
    ...callerProblems(operation),
    ...placeProblems(operation),
    ...bodyProblems(operation),
  ].map((problem) => `${operation.id}: ${problem}`)
}

function valueProblems({ rules }: Operation): string[] {
  return [...rules].flatMap(([rule, value]) => {
    const wrong = values[rule]?.(value)
    return wrong === undefined ? [] : [`${rule} ${wrong}`]
  })
}

function callerProblems({ caller, rules }: Operation): string[] {
  if (!rules.has('x-caller')) return ['declares no caller']
  const { kind } = caller
  if (!Object.hasOwn(members, kind)) return [`x-caller: ${String(kind)} is no kind of caller`]
  const takes = members[kind]
  const stray = Object.keys(caller)
    .filter((name) => name !== 'kind' && name !== takes)
    .map((name) => `x-caller: a ${kind} takes no ${name}`)
  if (takes === 'scope') {
    const { scope } = caller
    if (!Array.isArray(scope) || scope.length === 0) return [...stray, 'x-caller: a merchant needs a scope']
    return [
      ...stray,
      ...scope.filter((name) => !includes(scopes, name)).map((name) => `x-caller: ${name} is no registered scope`),
    ]
  }
  if (takes === 'permission') {
    const { permission } = caller
    if (typeof permission !== 'string') return [...stray, `x-caller: a ${kind} needs a permission`]
    const known = includes(kind === 'service' ? clientPermissions : permissions, permission)
    return known ? stray : [...stray, `x-caller: ${permission} is no permission that a ${kind} can have`]
  }
  return stray
}

/** Keys that their operation's caller or method leaves without a meaning. */
function placeProblems(operation: Operation): string[] {
  const {
    caller: { kind },
    rules,
    method,
    transaction,
  } = operation
  const problems: string[] = []
  const refuse = (rule: string, when: boolean, why: string): void => {
    if (rules.has(rule) && when) problems.push(`${rule} ${why}`)
  }
  refuse('x-step-up', !withStepUp.includes(kind), 'needs a caller who can step up')
  for (const rule of ['x-feature', 'x-when-closed', 'x-captcha'])
    refuse(rule, !atStorefront.includes(kind), 'needs the caller bff or shopper')
  refuse('x-module', withoutTenant.includes(kind), 'needs a caller of a tenant')
  refuse('x-idempotency', withoutTenant.includes(kind), 'needs a caller of a tenant')
  refuse('x-idempotency', method === 'get', 'stands on a GET')
  refuse(
    'x-idempotency',
    transaction !== 'write' && transaction !== 'two-step',
    'needs a transaction to keep its key in',
  )
  refuse('x-idempotency', operation.body === 'raw', 'cannot tell one raw body from another')
  refuse('x-transaction', method === 'get' && transaction === 'two-step', 'two-step stands on a GET')
  refuse('x-cors', !withoutTenant.includes(kind), 'open stands on an operation that takes a credential')
  if (limitBasis(operation) === 'caller' && withoutTenant.includes(kind))
    problems.push('x-rate-limit caller needs a caller with a credential')
  if (limitBasis(operation) === 'client' && operation.bodySchema?.properties?.client_id?.type !== 'string') {
    problems.push('x-rate-limit client needs client_id in the body')
  }
  return problems
}

/** Media types that the pipeline can read into a body. */
const readable = ['application/json', 'application/x-www-form-urlencoded']

function bodyProblems({ body, consumes, method, rules }: Operation): string[] {
  const problems: string[] = []
  if (body === 'none' && rules.has('x-max-body')) problems.push('x-max-body needs a body')
  if (body !== 'none' && method === 'get') problems.push('a GET takes no body')
  if (body === 'parsed') {
    if (consumes.length === 0) problems.push('its body has no media type')
    for (const type of consumes.filter((name) => !readable.includes(name)))
      problems.push(`nothing reads a body of ${type}`)
  }
  return problems
}

function includes(list: readonly string[], name: unknown): boolean {
  return typeof name === 'string' && list.includes(name)
}
