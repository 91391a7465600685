import { codesOf } from '../spec/house/codes.ts'
import { catalogue } from '../spec/house/http.ts'
import type { Document, Method, Operation, Parameter, Response, Schema } from '../spec/house/openapi.ts'
import { operationsOf } from '../spec/house/openapi.ts'

/** A request that the synthetic service answers with a success. */
export interface SampleRequest {
  method: 'GET' | 'POST' | 'PATCH'
  path: string
  headers: Record<string, string>
  body: string
}

const areas = ['payments', 'payouts', 'merchants', 'reports', 'catalogue', 'orders']
const nouns = ['intents', 'refunds', 'transfers', 'agreements', 'disputes']
/** Operations of each resource. */
const perResource = 11
const sampleId = '0192f3c4-8b21-7d4f-8e63-2a7c9b51f101'

interface Resource { noun: string, path: string, name: string }

const resources: readonly Resource[] = areas.flatMap((area) => nouns.map((noun) => ({
  noun, path: `/v1/${area}/${noun}`, name: pascal(area) + pascal(noun),
})))

/** A document of 330 operations with the rules that real ones have: paths, parameters, bodies of 20 members, x- keys. */
export function syntheticDocument(): Document {
  const document: Document = {
    openapi: '3.0.3', info: { title: 'Synthetic', version: '1.0.0' }, paths: {}, components: { schemas: schemas(), responses: {} },
  }
  for (const resource of resources) {
    for (const { method, path, operation } of operationsOfResource(resource)) (document.paths[path] ??= {})[method] = operation
  }
  for (const { operation } of operationsOf(document)) declareErrors(operation, document)
  const count = operationsOf(document).length
  if (count !== areas.length * nouns.length * perResource) throw new Error(`the synthetic document has ${count} operations`)
  return document
}

/** Requests of the four commonest kinds to every resource of the document: list, get, create and update. */
export function sampleRequests(apiKey: string): SampleRequest[] {
  const headers = { Authorization: `Bearer ${apiKey}`, Accept: 'application/json' }
  const withBody = { ...headers, 'Content-Type': 'application/json' }
  return resources.flatMap(({ path }, index) => [
    { method: 'GET', path: `${path}?page=2&limit=20&status=open&created_from=2026-11-02T03:04:05Z&q=order&sort=-created_at`, headers, body: '' },
    { method: 'GET', path: `${path}/${sampleId}`, headers, body: '' },
    { method: 'POST', path, headers: { ...withBody, 'Idempotency-Key': `order-${index}` }, body: JSON.stringify(sampleInput) },
    { method: 'PATCH', path: `${path}/${sampleId}`, headers: withBody, body: JSON.stringify(sampleInput) },
  ])
}

const sampleInput = {
  merchant_id: sampleId, amount_idr: 150_000, max_uses: 1, allowed_channels: ['qris', 'va_bank_a', 'ewallet_wallet_a'], description: 'Order 1042',
  reference_id: 'order-1042', return_url: 'https://shop.example/orders/1042', metadata: { order_id: '1042', cashier: '7' }, expires_in_seconds: 900,
  customer: { name: 'Pelanggan Contoh', email: 'pelanggan@shop.example', phone: '+628120000000' }, currency: 'IDR', priority: 'normal',
  due_at: '2026-12-01T00:00:00Z', lines: [{ sku: 'KOPI-1', quantity: 2, price_idr: 25_000 }, { sku: 'TEH-3', quantity: 4, price_idr: 25_000 }],
  note: 'Antar pagi', tax_idr: 15_000, discount_idr: 0, fee_idr: 2500, locale: 'id', notify: true, tags: ['pagi', 'toko'],
}

/** What the synthetic handlers answer for one thing. */
export const sampleThing = {
  id: sampleId, status: 'open', ...sampleInput, created_at: '2026-11-02T03:04:05.678Z', updated_at: '2026-11-02T03:04:05.678Z',
}

function operationsOfResource(resource: Resource): { method: Method, path: string, operation: Operation }[] {
  const { path, name } = resource
  const merchant = (action: string) => ({ kind: 'merchant', scope: [`payments.payment_intent.${action}`, `payments.refund.${action}`] })
  const make = (method: Method, at: string, id: string, rest: Partial<Operation>): { method: Method, path: string, operation: Operation } => ({
    method, path: path + at,
    operation: { operationId: id, tags: [resource.noun], responses: { 200: thingResponse }, ...(at.includes('{') && { parameters: idsIn(at) }), ...rest },
  })
  const body = { required: true, content: { 'application/json': { schema: ref('ThingInput') } } }
  return [
    make('get', '', `list${name}`, {
      'x-caller': merchant('read'), parameters: [...pageParameters, ...filterParameters], 'x-ignored-query': ['host'], responses: { 200: listResponse },
    }),
    make('post', '', `create${name}`, {
      'x-caller': merchant('create'), 'x-idempotency': 'optional', parameters: [idempotencyKey], requestBody: body,
      'x-errors': ['duplicate_reference', 'amount_out_of_range'], responses: { 201: thingResponse },
    }),
    make('get', '/{id}', `get${name}`, { 'x-caller': merchant('read') }),
    make('patch', '/{id}', `update${name}`, { 'x-caller': merchant('create'), requestBody: body }),
    make('delete', '/{id}', `delete${name}`, { 'x-caller': merchant('create'), responses: { 204: { description: 'Gone.' } } }),
    make('post', '/{id}/approve', `approve${name}`, {
      'x-caller': { kind: 'console', permission: 'payments.refund.approve' }, 'x-step-up': true, 'x-transaction': 'two-step', requestBody: body,
    }),
    make('post', '/{id}/cancel', `cancel${name}`, {
      'x-caller': { kind: 'tenant', permission: 'payments.refund.read' }, 'x-idempotency': 'optional', parameters: [...idsIn('{id}'), idempotencyKey],
    }),
    make('get', '/{id}/lines/{lineId}', `get${name}Line`, { 'x-caller': { kind: 'credential' }, 'x-transaction': 'none' }),
    make('get', '/summary', `summarise${name}`, { 'x-caller': merchant('read'), 'x-transaction': 'read', 'x-module': 'reports', parameters: filterParameters }),
    make('post', '/import', `import${name}`, {
      'x-caller': { kind: 'admin', permission: 'payments.tenant.write' }, 'x-environment': 'sandbox', 'x-max-body': 1_048_576, requestBody: body,
    }),
    make('post', '/callbacks/{provider}/{credentialId}', `receive${name}Callback`, {
      'x-caller': { kind: 'provider' }, 'x-body': 'raw', 'x-rate-limit': 'none', 'x-cors': 'open',
    } as Partial<Operation>),
  ]
}

function declareErrors(operation: Operation, document: Document): void {
  const responses = (document.components?.responses ?? {}) as Record<string, Response>
  for (const [status, codes] of Map.groupBy(codesOf(operation, document), (code) => catalogue[code]?.status ?? 500)) {
    const name = codes.map(pascal).join('Or')
    responses[name] ??= { description: name, content: { 'application/json': { schema: errorSchema(codes) } } }
    operation.responses[status] = { $ref: `#/components/responses/${name}` }
  }
}

function errorSchema(codes: string[]): Schema {
  return {
    type: 'object', required: ['error', 'message', 'request_id'],
    properties: { error: { type: 'string', enum: codes }, message: text(), request_id: text(), fields: { type: 'object', additionalProperties: text() } },
  }
}

function schemas(): Record<string, Schema> {
  const idr: Schema = { type: 'integer', format: 'int64', minimum: 0, maximum: 999_999_999_999 }
  const time: Schema = { type: 'string', format: 'date-time' }
  const line: Schema = {
    type: 'object', additionalProperties: false, required: ['sku', 'quantity', 'price_idr'],
    properties: { sku: text(64), quantity: { type: 'integer', minimum: 1, maximum: 9999 }, price_idr: idr },
  }
  const input: Record<string, Schema> = {
    merchant_id: { type: 'string', format: 'uuid' }, amount_idr: { ...idr, minimum: 1 }, max_uses: { type: 'integer', minimum: 0, maximum: 1_000_000 },
    allowed_channels: { type: 'array', minItems: 1, maxItems: 50, uniqueItems: true, items: { type: 'string', pattern: '^[a-z][a-z0-9_]{1,39}$' } },
    description: { ...text(500), nullable: true }, reference_id: { ...text(255), nullable: true },
    return_url: { ...text(2048), pattern: '^[A-Za-z][A-Za-z0-9+.-]*:.+$' },
    metadata: {
      type: 'object', maxProperties: 50, 'x-max-bytes': 8192, 'x-key-length': [1, 40],
      'x-error': { maxProperties: 'metadata_too_large', 'x-max-bytes': 'metadata_too_large' }, additionalProperties: text(500),
    },
    expires_in_seconds: { type: 'integer', minimum: 60 },
    customer: {
      type: 'object', additionalProperties: false,
      properties: {
        name: { ...text(200), 'x-secret': true }, email: { type: 'string', format: 'email', 'x-secret': true },
        phone: { type: 'string', pattern: '^\\+[1-9][0-9]{6,14}$', 'x-secret': true },
      },
    },
    currency: { type: 'string', enum: ['IDR'] }, priority: { type: 'string', enum: ['low', 'normal', 'high'] }, due_at: time,
    lines: { type: 'array', maxItems: 100, items: line }, note: text(500), tax_idr: idr, discount_idr: idr, fee_idr: idr,
    locale: { type: 'string', enum: ['id', 'en'] }, notify: { type: 'boolean' }, tags: { type: 'array', maxItems: 20, items: text(40) },
  }
  const thing = { id: { type: 'string', format: 'uuid' }, status: text(), ...input, created_at: time, updated_at: time }
  return {
    ThingInput: { type: 'object', additionalProperties: false, required: ['amount_idr'], properties: input },
    Thing: { type: 'object', additionalProperties: false, required: Object.keys(thing), properties: thing },
    ThingList: {
      type: 'object', additionalProperties: false, required: ['data', 'page', 'limit', 'total'],
      properties: { data: { type: 'array', items: ref('Thing') }, page: { type: 'integer' }, limit: { type: 'integer' }, total: { type: 'integer' } },
    },
  }
}

const thingResponse: Response = { description: 'The thing.', content: { 'application/json': { schema: ref('Thing') } } }
const listResponse: Response = { description: 'A page.', content: { 'application/json': { schema: ref('ThingList') } } }
const idempotencyKey: Parameter = { name: 'Idempotency-Key', in: 'header', schema: { type: 'string', minLength: 1, maxLength: 255 } }
const pageParameters: Parameter[] = [
  { name: 'page', in: 'query', schema: { type: 'integer', default: 1, 'x-clamp': [1, 100_000] } },
  { name: 'limit', in: 'query', schema: { type: 'integer', default: 20, 'x-clamp': [1, 100] } },
]
const filterParameters: Parameter[] = [
  { name: 'status', in: 'query', schema: { type: 'string', enum: ['open', 'paid', 'expired'] } },
  { name: 'created_from', in: 'query', schema: { type: 'string', format: 'date-time' } },
  { name: 'q', in: 'query', schema: text(100) },
  { name: 'sort', in: 'query', schema: { type: 'string', enum: ['created_at', '-created_at'] } },
]

function idsIn(path: string): Parameter[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name, in: 'path', required: true, schema: name === 'provider' ? text(40) : { type: 'string', format: 'uuid' },
  }))
}

function text(maxLength?: number): Schema {
  return { type: 'string', ...(maxLength !== undefined && { maxLength }) }
}

function ref(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` }
}

function pascal(name: string): string {
  return name.split('_').map((part) => part.charAt(0).toUpperCase() + part.slice(1)).join('')
}
