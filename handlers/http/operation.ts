import type { Operation as DocumentOperation } from 'openapi-backend'

/** Kinds of caller that an operation can declare; see `spec/README.md`. */
export type CallerKind =
  | 'merchant' | 'console' | 'tenant' | 'admin' | 'user' | 'credential' | 'public' | 'signed-link' | 'provider'
  | 'bff' | 'shopper' | 'seller' | 'service'

export interface CallerRule {
  kind: CallerKind
  scope?: string[]
  permission?: string
}

export type TransactionMode = 'none' | 'query' | 'read' | 'write' | 'two-step'

/** One operation of a document, with its rules as start-up compiled them. */
export interface Operation {
  id: string
  document: string
  method: string
  path: string
  caller: CallerRule
  /** Every x- key of the operation, by name. */
  rules: ReadonlyMap<string, unknown>
  transaction: TransactionMode
  body: 'none' | 'parsed' | 'ignored' | 'raw'
  bodyRequired: boolean
  /** Media types that the body may have. */
  consumes: readonly string[]
  /** Largest body in bytes. */
  maxBody: number
  /** Media types of the success response. */
  produces: readonly string[]
  /** Declared statuses, and for each error status its codes. */
  responses: ReadonlyMap<number, ReadonlySet<string>>
  /** Declared parameters by place. */
  parameters: readonly Parameter[]
  bodySchema: Schema | undefined
  /** The operation as openapi-backend knows it, references resolved. */
  source: DocumentOperation
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header' | 'cookie'
  required?: boolean
  /** `deepObject`: the members of an object, each written `name[member]=value`. */
  style?: string
  schema?: Schema
}

export interface Schema {
  type?: string
  properties?: Record<string, Schema>
  additionalProperties?: boolean | Schema
  items?: Schema
  'x-error'?: string | Record<string, string>
  'x-secret'?: boolean
  [keyword: string]: unknown
}
