import type { OpenAPIBackend } from 'openapi-backend'
import type { ErrorObject } from 'ajv'
import { ApiError } from '../../domain/apiError.ts'
import { deepestRow } from '../../domain/paging.ts'
import type { ErrorCode } from '../../domain/apiError.ts'
import type { Exchange, Guard, Step } from './exchange.ts'
import type { Operation, Parameter, Schema } from './operation.ts'
import { readBody } from './requestBody.ts'
import { partsCheck, partsReader } from './requestParts.ts'
import { reasonOf } from './validator.ts'

/** Most entries of `fields`; a hostile body could yield a hundred thousand (decision 5.7). */
const maxFields = 20
const wholeNumber = /^-?\d{1,15}$/
const idempotencyKeyForm = /^[\x21-\x7e]{1,255}$/

/** The guard that reads the body and checks everything the request carries against the document. */
export function validation(): Guard {
  return {
    name: 'validation',
    enforces: [],
    compile: (operation, api) => validateStep(operation, api),
  }
}

function validateStep(operation: Operation, api: OpenAPIBackend): Step {
  const read = partsReader(operation)
  const check = partsCheck(operation, api)
  const integers = operation.parameters.filter(({ in: place, schema }) => place === 'query' && schema?.type === 'integer').map(({ name }) => name)
  const takesKey = operation.rules.has('x-idempotency')
  const isPaged = ['page', 'limit'].every((name) => integers.includes(name))
  return async (exchange) => {
    const { request } = exchange
    assertAcceptable(operation, exchange)
    if (operation.body !== 'none') await readBody(exchange)
    if (takesKey) exchange.idempotencyKey = idempotencyKey(exchange)
    const parts = read(exchange)
    const errors = check(parts)
    if (errors) throw refusal(operation, errors)
    const badInteger = integers.find((name) => isBadInteger(request.query[name]))
    if (badInteger) throw new ApiError('validation_failed', { fields: { [badInteger]: 'must be a whole number' } })
    exchange.query = parts.query
    exchange.params = parts.path
    if (isPaged && Number(exchange.query.page) * Number(exchange.query.limit) > deepestRow) {
      throw new ApiError('validation_failed', { fields: { page: `times limit must be at most ${deepestRow}` } })
    }
    if (!isStorable(exchange.params)) throw new ApiError('not_found')
    assertStorable(exchange.query)
    if (operation.body === 'parsed') assertStorable(exchange.body)
  }
}

/** The validator also takes `1e2` and `0x10` for integers. */
function isBadInteger(value: unknown): boolean {
  return value !== undefined && !wholeNumber.test(String(value))
}

/** Refuses a request whose Accept header excludes every form the success response has. */
function assertAcceptable(operation: Operation, exchange: Exchange): void {
  const { accept } = exchange.request.headers
  // What nearly every client says needs no weighing.
  if (operation.produces.length === 0 || accept === undefined || accept === '*/*' || operation.produces.includes(accept)) return
  if (!exchange.request.accepts([...operation.produces])) throw new ApiError('not_acceptable')
}

function idempotencyKey(exchange: Exchange): string | undefined {
  const key = exchange.header('idempotency-key')
  if (key === undefined) return undefined
  if (!idempotencyKeyForm.test(key)) {
    throw new ApiError('validation_failed', { fields: { 'Idempotency-Key': 'must be 1 to 255 visible ASCII characters' } })
  }
  return key
}

/** PostgreSQL stores no U+0000 and UTF-8 has no lone surrogates: such text would fail or change on its way. */
function isStorableText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return isStorableText(value)
  if (value === null || typeof value !== 'object') return true
  if (Array.isArray(value)) return value.every(isStorable)
  for (const key of Object.keys(value)) {
    if (!isStorableText(key) || !isStorable((value as Record<string, unknown>)[key])) return false
  }
  return true
}

function assertStorable(value: unknown): void {
  if (isStorable(value)) return
  const place = unstorablePath(value).join('.') || 'body'
  throw new ApiError('validation_failed', { fields: { [place]: 'must be text without U+0000 and lone surrogates' } })
}

/** The path to the first text that cannot be stored; a member's name is told by where it stands. */
function unstorablePath(value: unknown): string[] {
  if (value === null || typeof value !== 'object') return []
  for (const [key, entry] of Object.entries(value)) {
    if (!isStorableText(key)) return []
    if (!isStorable(entry)) return [key, ...unstorablePath(entry)]
  }
  return []
}

/** Turns what the validator found into the declared error: a malformed id is not told from an unknown one. */
export function refusal(operation: Operation, errors: readonly ErrorObject[]): ApiError {
  if (errors.some(({ instancePath }) => instancePath.startsWith('/path'))) return new ApiError('not_found')
  // A map, because a hostile member may be called like one that every object has.
  const fields = new Map<string, string>()
  const codes = new Set<string>()
  for (const error of errors) {
    const path = pathOf(error)
    const place = path.shift()
    const parameter = place === 'requestBody' ? undefined : parameterOf(operation, place, path[0])
    codes.add(place === 'requestBody' ? codeAt(operation.bodySchema, path, error.keyword) : codeAt(parameter?.schema, path.slice(1), error.keyword))
    const name = (parameter ? [parameter.name, ...path.slice(1)] : path).join('.') || 'body'
    if (fields.size < maxFields && !fields.has(name)) fields.set(name, reasonOf(error))
  }
  const [only] = codes
  return new ApiError(codes.size === 1 ? only as ErrorCode : 'validation_failed', { fields: Object.fromEntries(fields) })
}

function pathOf(error: ErrorObject): string[] {
  const path = error.instancePath.split('/').slice(1).map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  const params = error.params as { missingProperty?: string, additionalProperty?: string }
  const last = params.missingProperty ?? (error.keyword === 'additionalProperties' ? params.additionalProperty : undefined)
  if (last !== undefined) path.push(last)
  return path
}

/** The declared parameter; header names are known to the validator in lower case. */
function parameterOf(operation: Operation, place = '', name = ''): Parameter | undefined {
  const same = place === 'header' ? (other: string) => other.toLowerCase() === name.toLowerCase() : (other: string) => other === name
  return operation.parameters.find((parameter) => parameter.in === place && same(parameter.name))
}

/** The nearest `x-error` along the field's path; a map names codes by the keyword that failed. */
function codeAt(schema: Schema | undefined, path: readonly string[], keyword: string): string {
  let code = 'validation_failed'
  let at = schema
  const take = () => {
    const named = at?.['x-error']
    if (typeof named === 'string') code = named
    else if (named) code = named[keyword] ?? code
  }
  take()
  for (const part of path) {
    at = memberOf(at, part)
    if (!at) break
    take()
  }
  return code
}

/** The schema of a member or entry; where there are alternatives, of the first that has it. */
function memberOf(schema: Schema | undefined, part: string): Schema | undefined {
  if (!schema) return undefined
  if (schema.properties && Object.hasOwn(schema.properties, part)) return schema.properties[part]
  if (schema.items && /^\d+$/.test(part)) return schema.items
  for (const alternative of (schema.oneOf as Schema[] | undefined) ?? []) {
    const found = memberOf(alternative, part)
    if (found) return found
  }
  return typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined
}
