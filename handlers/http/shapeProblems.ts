import { errors } from '../../generated/errors.ts'
import type { Operation, Parameter, Schema } from './operation.ts'
import { isKnownFormat } from './validator.ts'

/** Keys of a schema: which are known, and what each needs of the schema it stands in. */
const schemaRules: Record<string, (schema: Schema) => boolean> = {
  'x-clamp': ({ type, minimum, maximum }) => type === 'integer' && minimum === undefined && maximum === undefined,
  'x-error': () => true,
  'x-max-bytes': ({ type }) => type === 'object',
  'x-key-length': ({ type }) => type === 'object',
  'x-secret': () => true,
}

/** Why the parameters, schemas and responses of an operation cannot be held to what they say, one line each. */
export function shapeProblems(operation: Operation): string[] {
  return [...responseProblems(operation), ...parameterProblems(operation), ...bodyProblems(operation)].map(
    (problem) => `${operation.id}: ${problem}`,
  )
}

function responseProblems({ responses, rules }: Operation): string[] {
  const problems: string[] = []
  const statuses = [...responses.keys()]
  if (!statuses.some((status) => status >= 200 && status < 300)) problems.push('declares no success')
  for (const [status, codes] of responses) {
    if (!Number.isInteger(status)) problems.push('declares a response whose status is no number')
    if (status >= 400 && codes.size === 0) problems.push(`declares ${status} without its error codes`)
    for (const code of codes) {
      const known = Object.hasOwn(errors, code) ? errors[code as keyof typeof errors].status : undefined
      if (known === undefined) problems.push(`the error code ${code} is not in the catalogue`)
      else if (known !== status) problems.push(`the error code ${code} belongs to ${known}, not ${status}`)
    }
  }
  const declared = new Set([...responses.values()].flatMap((codes) => [...codes]))
  const own = rules.get('x-errors')
  for (const code of Array.isArray(own) ? own : []) {
    if (!declared.has(code)) problems.push(`x-errors names ${String(code)}, which no response declares`)
  }
  return problems
}

function parameterProblems(operation: Operation): string[] {
  const { parameters, path } = operation
  const problems: string[] = []
  const inPath = [...path.matchAll(/\{([^}]*)\}/g)].map(([, name = '']) => name)
  const declared = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)
  for (const name of inPath.filter((one) => !/^[A-Za-z_]\w*$/.test(one)))
    problems.push(`the path parameter {${name}} must be a plain name`)
  for (const name of inPath.filter((one) => !declared.includes(one)))
    problems.push(`the path parameter ${name} is not declared`)
  for (const name of declared.filter((one) => !inPath.includes(one)))
    problems.push(`the path parameter ${name} is not in the path`)
  for (const parameter of parameters) {
    if (parameter.in === 'cookie') problems.push('a cookie parameter is not supported')
    problems.push(...schemaProblems(parameter.schema, operation, parameter.name, parameter))
  }
  return problems
}

function bodyProblems(operation: Operation): string[] {
  return schemaProblems(operation.bodySchema, operation, 'body', undefined)
}

/** Walks a request schema. `parameter` is where it stands, undefined inside a body. */
function schemaProblems(
  root: Schema | undefined,
  operation: Operation,
  name: string,
  parameter: Parameter | undefined,
): string[] {
  const problems: string[] = []
  const seen = new Set<Schema>()
  const walk = (schema: Schema | undefined, path: string): void => {
    if (!schema || seen.has(schema)) return
    seen.add(schema)
    for (const key of Object.keys(schema).filter((one) => one.startsWith('x-'))) {
      const fits = Object.hasOwn(schemaRules, key) ? schemaRules[key] : undefined
      if (!fits) problems.push(`${path}: nothing enforces ${key}`)
      else if (!fits(schema)) problems.push(`${path}: ${key} does not fit this schema`)
    }
    if ('x-clamp' in schema && (parameter?.in !== 'query' || schema !== root))
      problems.push(`${path}: x-clamp is for query parameters`)
    if (typeof schema.format === 'string' && !isKnownFormat(schema.format))
      problems.push(`${path}: nothing checks the format ${schema.format}`)
    for (const code of codesOf(schema['x-error'])) {
      const status = Object.hasOwn(errors, code) ? errors[code as keyof typeof errors].status : undefined
      if (status === undefined || !operation.responses.get(status)?.has(code))
        problems.push(`${path}: x-error names ${code}, which no response declares`)
    }
    for (const [member, inner] of Object.entries(schema.properties ?? {})) walk(inner, `${path}.${member}`)
    walk(schema.items, `${path}[]`)
    if (typeof schema.additionalProperties === 'object') walk(schema.additionalProperties, `${path}.*`)
    for (const inner of (schema.oneOf as Schema[] | undefined) ?? []) walk(inner, path)
  }
  walk(root, name)
  return problems
}

function codesOf(named: Schema['x-error']): string[] {
  return typeof named === 'string' ? [named] : Object.values(named ?? {})
}
