import type { Document, Follow, MediaType, Operation, Parameter, RequestBody, Response, Schema } from './openapi.ts'
import { within } from './openapi.ts'

type Limit = 'caller' | 'address' | 'client' | 'none'

interface CallerKind {
  /** The member of x-caller, beside `kind`, that this kind takes. */
  takes?: 'scope' | 'permission'
  limit: Limit
  codes: string[]
  /** Alternatives of security schemes. */
  security: string[]
}

const TOKEN = ['unauthenticated', 'env_mismatch']
const PERMISSION = [...TOKEN, 'forbidden']
const STOREFRONT = ['not_found', 'unauthenticated', 'forbidden']

/** The kinds of caller of `spec/README.md`. */
export const CALLERS: Record<string, CallerKind> = {
  merchant: {
    takes: 'scope', limit: 'caller', codes: [...PERMISSION, 'insufficient_scope'], security: ['apiKey', 'accessToken'],
  },
  console: { takes: 'permission', limit: 'caller', codes: PERMISSION, security: ['accessToken'] },
  tenant: { takes: 'permission', limit: 'caller', codes: PERMISSION, security: ['accessToken'] },
  admin: { takes: 'permission', limit: 'caller', codes: PERMISSION, security: ['accessToken'] },
  user: { limit: 'caller', codes: TOKEN, security: ['accessToken'] },
  credential: { limit: 'caller', codes: TOKEN, security: ['apiKey', 'accessToken'] },
  public: { limit: 'address', codes: [], security: [] },
  'signed-link': { limit: 'address', codes: ['not_found'], security: [] },
  provider: { limit: 'none', codes: ['unauthenticated', 'not_found'], security: [] },
  bff: { limit: 'none', codes: STOREFRONT, security: ['serviceToken'] },
  shopper: { limit: 'none', codes: [...STOREFRONT, 'feature_disabled'], security: ['serviceToken'] },
  seller: { takes: 'permission', limit: 'caller', codes: PERMISSION, security: ['accessToken'] },
  service: { takes: 'permission', limit: 'caller', codes: PERMISSION, security: ['serviceToken'] },
}

/** Header parameters that the bundler adds and the validator cannot fail: their guards have codes of their own. */
const GUARDED_HEADERS = ['X-Marketplace-Captcha-Token', 'X-Buyer-Session']

/** Whose bucket a request to the operation is taken from. */
export const rateLimitOf = (operation: Operation): string =>
  operation['x-rate-limit'] ?? CALLERS[operation['x-caller']?.kind ?? '']?.limit ?? 'none'

/** How the pipeline treats the operation: see `x-transaction` in `spec/README.md`. */
export const transactionOf = (operation: Operation, method: string): string =>
  operation['x-transaction'] ?? (method === 'get' ? 'query' : 'write')

/** Codes that `x-error` inside a request schema names. */
function codesInSchema(schema: Schema | undefined, follow: Follow, from?: string, seen = new Set<Schema>()): string[] {
  if (!schema) return []
  const { node, from: at } = follow<Schema>(schema, from)
  if (!node || seen.has(node)) return []
  seen.add(node)
  const own = node['x-error']
  const inner = [
    ...Object.values(node.properties ?? {}), ...(node.oneOf ?? []), ...(node.items ? [node.items] : []),
    ...(typeof node.additionalProperties === 'object' ? [node.additionalProperties] : []),
  ]
  return [
    ...(typeof own === 'string' ? [own] : own && typeof own === 'object' ? Object.values(own) as string[] : []),
    ...inner.flatMap((part) => codesInSchema(part, follow, at, seen)),
  ]
}

function codesOfInput(operation: Operation, follow: Follow, from?: string): string[] {
  const codes: string[] = []
  for (const entry of operation.parameters ?? []) {
    const { node, from: at } = follow<Parameter>(entry, from)
    if (!node || GUARDED_HEADERS.includes(node.name)) continue
    codes.push(node.in === 'path' ? 'not_found' : 'validation_failed', ...codesInSchema(node.schema, follow, at))
  }
  if (operation['x-body']) return [...codes, 'payload_too_large']
  if (!operation.requestBody) return codes
  const { node: body, from: at } = follow<RequestBody>(operation.requestBody, from)
  codes.push('validation_failed', 'payload_too_large', 'unsupported_media_type')
  for (const [type, media] of Object.entries<MediaType>(body.content ?? {})) {
    if (/[/+]json$/.test(type)) codes.push('invalid_json')
    codes.push(...codesInSchema(media.schema, follow, at))
  }
  return codes
}

/**
 * Every error code that an operation can answer, sorted: what its handler raises (`x-errors`), and what its caller, its
 * other x- keys and its shape imply by the tables of `spec/README.md`. `follow` and `from` are for documents that are
 * not bundled yet.
 */
export function codesOf(
  operation: Operation, document: Document, follow: Follow = within(document), from?: string,
): string[] {
  const codes = new Set(operation['x-errors'] ?? [])
  const add = (...more: string[]): void => more.forEach((code) => codes.add(code))
  // A query parameter that is not declared is refused everywhere.
  add('internal_error', 'unavailable', 'validation_failed', ...(CALLERS[operation['x-caller']?.kind ?? '']?.codes ?? []))
  if (operation['x-environment']) add('not_found')
  if (operation['x-module']) add('forbidden')
  if (operation['x-step-up']) add('insufficient_user_authentication')
  if (rateLimitOf(operation) !== 'none') add('rate_limited')
  if (operation['x-idempotency']) add('idempotency_key_reused', 'validation_failed')
  if (operation['x-feature']) add('feature_disabled')
  if (operation['x-when-closed']) add('storefront_closed')
  if (operation['x-captcha']) add('captcha_required')
  add(...codesOfInput(operation, follow, from))
  const successes = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'))
  if (successes.some(([, response]) => follow<Response>(response, from).node?.content)) add('not_acceptable')
  if (document['x-service'] === 'identity') codes.delete('env_mismatch')
  return [...codes].sort()
}
