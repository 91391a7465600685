import { Ajv } from 'ajv'
import type { ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'

export interface JudgedSchema {
  type?: string
  properties?: Record<string, JudgedSchema>
  items?: JudgedSchema
  additionalProperties?: boolean | JudgedSchema
  [keyword: string]: unknown
}

export interface JudgedParameter {
  name: string
  in: 'path' | 'query' | 'header' | 'cookie'
  required?: boolean
  style?: string
  schema: JudgedSchema
}

interface JudgedResponse {
  headers?: Record<string, { required?: boolean }>
  content?: Record<string, { schema: JudgedSchema }>
}

/** An operation as a dereferenced document has it. */
export interface JudgedOperation {
  operationId: string
  path: string
  method: string
  /** The path that all paths of the document stand below. */
  root: string
  parameters: readonly JudgedParameter[]
  requestBody?: {
    required?: boolean
    content: Record<string, { schema: JudgedSchema; example?: unknown; examples?: Record<string, { value: unknown }> }>
  }
  responses: Record<string, JudgedResponse>
  'x-body'?: 'raw' | 'ignored'
}

/** A request as it goes over the wire: everything encoded. */
export interface WireRequest {
  method: string
  /** By name, percent-encoded. */
  path: Record<string, string>
  query: string
  headers: Record<string, string>
  body: string | undefined
}

export interface WireAnswer {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
}

export interface DocumentJudge {
  operations: readonly JudgedOperation[]
  /** Why the document refuses the request; empty: it does not. */
  refuses(operation: JudgedOperation, request: WireRequest): string[]
  /** How an answer breaks the document; empty: not at all. */
  breaks(operation: JudgedOperation, answer: WireAnswer): string[]
}

const methods = ['get', 'post', 'put', 'patch', 'delete']

/** Reads a dereferenced document by the letter of OpenAPI 3.0, with a validator that no service has a part in. */
export function documentJudge(document: unknown): DocumentJudge {
  const { paths, servers } = document as {
    paths: Record<string, Record<string, JudgedOperation>>
    servers: { url: string }[]
  }
  const root = (servers[0]?.url ?? '').replace(/^[a-z]+:\/\/[^/]+/, '').replace(/\/$/, '')
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => methods.includes(method))
      .map(([method, operation]) => ({
        ...operation,
        parameters: operation.parameters ?? [],
        path,
        root,
        method: method.toUpperCase(),
      })),
  )
  const ajv = judgingAjv()
  const compiled = new Map<string, ValidateFunction>()
  const problems = (schema: JudgedSchema, value: unknown, place: string): string[] => {
    const text = JSON.stringify(schema)
    const validate = compiled.get(text) ?? ajv.compile(schema)
    compiled.set(text, validate)
    if (validate(value)) return []
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${place}${instancePath} ${message} ${JSON.stringify(params)}`,
    )
  }
  return {
    operations,
    refuses: (operation, request) => [
      ...pathProblems(operation, request, problems),
      ...queryProblems(operation, request, problems),
      ...headerProblems(operation, request, problems),
      ...bodyProblems(operation, request, problems),
    ],
    breaks: (operation, answer) => answerProblems(operation, answer, problems),
  }
}

type Problems = (schema: JudgedSchema, value: unknown, place: string) => string[]

function judgingAjv(): Ajv {
  const ajv = new Ajv({ strict: false, allErrors: false })
  ;(addFormats as unknown as (ajv: Ajv) => void)(ajv)
  ajv.addFormat('int64', { type: 'number', validate: Number.isSafeInteger })
  ajv.addFormat('int32', {
    type: 'number',
    validate: (value: number) => Number.isInteger(value) && Math.abs(value) <= 2 ** 31,
  })
  ajv.addKeyword({
    keyword: 'x-max-bytes',
    validate: (most: number, value: unknown) => Buffer.byteLength(JSON.stringify(value)) <= most,
  })
  ajv.addKeyword({
    keyword: 'x-key-length',
    type: 'object',
    validate: ([shortest, longest]: [number, number], value: object) =>
      Object.keys(value).every((key) => [...key].length >= shortest && [...key].length <= longest),
  })
  return ajv
}

function pathProblems({ parameters }: JudgedOperation, { path }: WireRequest, problems: Problems): string[] {
  return parameters
    .filter(({ in: place }) => place === 'path')
    .flatMap(({ name, schema }) => {
      const text = decoded(path[name] ?? '')
      return text === null ? [`path/${name} cannot be decoded`] : problems(schema, typed(schema, text), `path/${name}`)
    })
}

function queryProblems(operation: JudgedOperation, { query }: WireRequest, problems: Problems): string[] {
  const declared = operation.parameters.filter(({ in: place }) => place === 'query')
  const given = new Map<string, string[]>()
  for (const [name, value] of new URLSearchParams(query)) given.set(name, [...(given.get(name) ?? []), value])
  const found = declared.flatMap(({ name, schema, required, style }) => {
    if (schema.type === 'array') throw new Error(`${operation.operationId}: no rule is written for the list ${name}`)
    const value = style === 'deepObject' ? members(name, given) : only(given.get(name))
    if (value === undefined) return required ? [`query/${name} is missing`] : []
    return problems(schema, typeof value === 'string' ? typed(schema, value) : value, `query/${name}`)
  })
  const isKnown = (name: string) =>
    declared.some((parameter) =>
      parameter.style === 'deepObject'
        ? name.startsWith(`${parameter.name}[`) && name.endsWith(']')
        : parameter.name === name,
    )
  return [
    ...found,
    ...[...given.keys()].filter((name) => !isKnown(name)).map((name) => `query/${name} is not declared`),
  ]
}

function only(values: readonly string[] | undefined): string | readonly string[] | undefined {
  return values?.length === 1 ? values[0] : values
}

/** The object that `name[member]=value` parameters make; undefined when there are none. */
function members(name: string, given: ReadonlyMap<string, string[]>): object | undefined {
  const found = [...given].filter(([key]) => key.startsWith(`${name}[`) && key.endsWith(']'))
  return found.length === 0
    ? undefined
    : Object.fromEntries(found.map(([key, values]) => [key.slice(name.length + 1, -1), only(values)]))
}

function headerProblems({ parameters }: JudgedOperation, { headers }: WireRequest, problems: Problems): string[] {
  return parameters
    .filter(({ in: place }) => place === 'header')
    .flatMap(({ name, schema, required }) => {
      const value = headers[name]
      if (value === undefined) return required ? [`header/${name} is missing`] : []
      // HTTP takes no account of blanks around a value.
      return problems(schema, typed(schema, value.replace(/^[ \t]+|[ \t]+$/g, '')), `header/${name}`)
    })
}

function bodyProblems(
  { requestBody, 'x-body': rule }: JudgedOperation,
  { headers, body = '' }: WireRequest,
  problems: Problems,
): string[] {
  // Bytes that no schema is applied to.
  if (!requestBody || rule !== undefined) return []
  if (body === '') return requestBody.required ? ['body is missing'] : []
  const given = headers['Content-Type'] ?? ''
  const type = given.split(';')[0]?.trim().toLowerCase() ?? ''
  const media = requestBody.content[type]
  if (!media) return [`body of type ${given}`]
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(given)?.[1]?.toLowerCase()
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') return [`body in ${charset}`]
  if (type === 'application/x-www-form-urlencoded') {
    const form = new Map<string, string[]>()
    for (const [name, value] of new URLSearchParams(body)) form.set(name, [...(form.get(name) ?? []), value])
    return problems(media.schema, Object.fromEntries([...form].map(([name, values]) => [name, only(values)])), 'body')
  }
  try {
    // A reader may pass over a byte order mark (RFC 8259, 8.1).
    return problems(media.schema, JSON.parse(body.replace(/^\ufeff/, '')), 'body')
  } catch {
    return ['body is no JSON']
  }
}

function answerProblems(
  { responses }: JudgedOperation,
  { status, headers, text }: WireAnswer,
  problems: Problems,
): string[] {
  const declared = responses[String(status)]
  if (!declared) return [`status ${status} is not declared`]
  const found = Object.entries(declared.headers ?? {})
    .filter(([name, { required }]) => required && headers[name.toLowerCase()] === undefined)
    .map(([name]) => `header ${name} is missing`)
  if (headers['x-request-id'] === undefined) found.push('header X-Request-Id is missing')
  const content = Object.entries(declared.content ?? {})
  if (content.length === 0) return text === '' ? found : [...found, 'there is a body where none is declared']
  const type = String(headers['content-type']).split(';')[0] ?? ''
  const media = declared.content?.[type]
  if (!media) return [...found, `its media type ${type} is not declared`]
  try {
    return [...found, ...problems(media.schema, JSON.parse(text), 'body')]
  } catch {
    return [...found, 'its body is no JSON']
  }
}

/** The value that a text stands for; the text itself where it stands for none of the schema's type. */
function typed({ type }: JudgedSchema, text: string): unknown {
  if (type === 'integer' && /^-?\d+$/.test(text)) return Number(text)
  if (type === 'boolean' && /^(true|false)$/.test(text)) return text === 'true'
  return text
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
