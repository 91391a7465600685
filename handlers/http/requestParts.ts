import type { IncomingHttpHeaders } from 'node:http'
import type { ErrorObject } from 'ajv'
import type { OpenAPIBackend } from 'openapi-backend'
import type { Exchange } from './exchange.ts'
import type { Operation, Parameter } from './operation.ts'

/** What of a request the compiled validators see. They write coerced values and defaults into it. */
export interface RequestParts {
  path: Record<string, unknown>
  query: Record<string, unknown>
  header: Record<string, unknown>
  requestBody?: unknown
}

/** The declared parts of a request, and all of its query and path. */
export type PartsReader = (exchange: Exchange) => RequestParts
/** What is wrong with the parts; null when nothing is. */
export type PartsCheck = (parts: RequestParts) => ErrorObject[] | null

/**
 * Reads the parts straight from Express, which has decoded path and query already: to have openapi-backend parse the
 * request once more costs several times what its validators do. Throws for a parameter style that is not read here.
 */
export function partsReader(operation: Operation): PartsReader {
  const { parameters, rules } = operation
  const ignored = new Set((rules.get('x-ignored-query') as string[] | undefined) ?? [])
  const lists = new Map(parameters.filter(isList).map((parameter) => [parameter.name, isCommaSeparated(operation, parameter)]))
  const objects = parameters.filter(({ in: place, style }) => place === 'query' && style === 'deepObject').map(({ name }) => name)
  const headers = parameters.filter(({ in: place }) => place === 'header').map(({ name }) => name.toLowerCase())
  return ({ request, body }) => ({
    path: { ...request.params },
    query: queryOf(request.query as Record<string, string | string[]>, ignored, lists, objects),
    header: headersOf(request.headers, headers),
    ...(operation.body === 'parsed' && { requestBody: body }),
  })
}

/** The validators that openapi-backend has compiled for the operation. */
export function partsCheck({ id }: Operation, { validator }: OpenAPIBackend): PartsCheck {
  const validators = validator.getRequestValidatorsForOperation(id) ?? []
  return (parts) => {
    let errors: ErrorObject[] | null = null
    for (const validate of validators) {
      if (!validate(parts)) errors = [...errors ?? [], ...(validate.errors ?? [])]
    }
    return errors
  }
}

function isList({ in: place, schema }: Parameter): boolean {
  return place === 'query' && schema?.type === 'array'
}

/** Whether the entries of a list stand in one value with commas between, or each in a value of its own. */
function isCommaSeparated({ id }: Operation, parameter: Parameter): boolean {
  const { explode, style = 'form', content } = parameter as Parameter & { explode?: boolean, style?: string, content?: unknown }
  if (style !== 'form' || content !== undefined) throw new Error(`${id}: the query parameter ${parameter.name} can only have the style form`)
  return explode === false
}

function queryOf(
  given: Record<string, string | string[]>, ignored: ReadonlySet<string>, lists: ReadonlyMap<string, boolean>, objects: readonly string[],
): Record<string, unknown> {
  // Without a prototype, so that a parameter named __proto__ is one like any other.
  const query = Object.create(null) as Record<string, unknown>
  for (const name of Object.keys(given)) {
    if (ignored.has(name)) continue
    const value = given[name]
    const object = objects.find((one) => name.startsWith(`${one}[`) && name.endsWith(']'))
    if (object !== undefined && isOpenObject(query[object])) {
      query[object] = withMember(query[object], name.slice(object.length + 1, -1), value)
      continue
    }
    const byComma = lists.get(name)
    query[name] = byComma === undefined || typeof value !== 'string' ? value : byComma ? value.split(',') : [value]
  }
  return query
}

/** Whether `name[member]` can still be put under `name`: nothing is there yet, or other members of it. */
function isOpenObject(before: unknown): before is Record<string, unknown> | undefined {
  return before === undefined || (typeof before === 'object' && !Array.isArray(before))
}

/** Defined, not assigned: a member may be named __proto__. */
function withMember(before: Record<string, unknown> | undefined, member: string, value: unknown): Record<string, unknown> {
  return Object.defineProperty(before ?? {}, member, { value, enumerable: true, configurable: true, writable: true })
}

function headersOf(given: IncomingHttpHeaders, declared: readonly string[]): Record<string, unknown> {
  const header: Record<string, unknown> = {}
  for (const name of declared) {
    if (given[name] !== undefined) header[name] = given[name]
  }
  return header
}
