/** The parts of an OpenAPI 3.0 document that the tools read. */
export interface Ref { $ref: string }

export interface Schema {
  $ref?: string
  type?: string
  format?: string
  description?: string
  nullable?: boolean
  enum?: unknown[]
  required?: string[]
  properties?: Record<string, Schema>
  items?: Schema
  additionalProperties?: boolean | Schema
  oneOf?: Schema[]
  minimum?: number
  maximum?: number
  discriminator?: { propertyName: string; mapping?: Record<string, string> }
  [key: string]: unknown
}

export interface Parameter {
  name: string
  in: 'query' | 'path' | 'header' | 'cookie'
  required?: boolean
  description?: string
  schema?: Schema
  example?: unknown
}

export interface Header { description?: string; required?: boolean; schema?: Schema; example?: unknown }

export interface MediaType {
  schema?: Schema
  example?: unknown
  examples?: Record<string, { summary?: string; value?: unknown }>
}

export interface Response {
  description?: string
  headers?: Record<string, Header | Ref>
  content?: Record<string, MediaType>
}

export interface RequestBody { required?: boolean; description?: string; content?: Record<string, MediaType> }

export interface Caller { kind: string; scope?: string[]; permission?: string }

export interface Operation {
  operationId: string
  summary?: string
  description?: string
  tags?: string[]
  parameters?: (Parameter | Ref)[]
  requestBody?: RequestBody | Ref
  responses: Record<string, Response | Ref>
  security?: Record<string, string[]>[]
  'x-caller'?: Caller
  'x-environment'?: string
  'x-module'?: string
  'x-step-up'?: boolean
  'x-rate-limit'?: string
  'x-idempotency'?: string
  'x-feature'?: string
  'x-when-closed'?: string
  'x-captcha'?: boolean
  'x-transaction'?: string
  'x-body'?: string
  'x-max-body'?: number
  'x-ignored-query'?: string[]
  'x-errors'?: string[]
}

export type PathItem = Partial<Record<Method, Operation>>

export interface Document {
  openapi: string
  info: { title: string; version: string }
  servers?: { url: string; variables?: Record<string, { default: string }> }[]
  tags?: { name: string; description?: string }[]
  paths: Record<string, PathItem>
  components?: Record<string, Record<string, unknown>>
  'x-service'?: string
  'x-webhooks'?: Record<string, PathItem>
}

export const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const
export type Method = (typeof METHODS)[number]

/** Replaces a `$ref` by what it points to. `from` is the file that the node stands in; a bundle has none. */
export type Follow = <T>(node: T | Ref, from?: string) => { node: T; from?: string | undefined }

/** What a reference like `#/components/schemas/Thing` points to in a document, or undefined. */
export function at(ref: string, document: Document): unknown {
  const path = ref.slice(2).split('/').map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  return path.reduce<unknown>((node, part) => (node as Record<string, unknown> | undefined)?.[part], document)
}

/** Follows the references inside one bundled document. */
export function within(document: Document): Follow {
  return <T>(node: T | Ref) => {
    let found = node as unknown
    while (found !== null && typeof found === 'object' && '$ref' in found) {
      found = at((found as Ref).$ref, document)
    }
    return { node: found as T }
  }
}

/** Every operation of a bundled document (not the webhooks), in the order of its paths. */
export function operationsOf(document: Document): { path: string; method: Method; operation: Operation }[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method]
      return operation ? [{ path, method, operation }] : []
    }))
}
