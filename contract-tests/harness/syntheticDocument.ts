import { errors } from '../../generated/errors.ts'
import { codesOf } from '../../spec/house/codes.ts'
import type { Document } from '../../spec/house/openapi.ts'

/** An operation of the synthetic document, written as a spec entry is; what is left out is filled in. */
export interface SyntheticOperation {
  id: string
  /** Default get. */
  method?: string
  /** Default: the operation's id. */
  path?: string
  'x-caller'?: unknown
  parameters?: readonly object[]
  requestBody?: object
  /** Default: 200 with any object. */
  responses?: Record<string, unknown>
  /** Default none; undefined leaves it out of the document. */
  'x-transaction'?: string | undefined
  [rule: `x-${string}`]: unknown
}

const anyObject = { type: 'object', additionalProperties: true }
const pathId = { name: 'id', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } }
const jsonBody = (properties: Record<string, object>, required: string[] = []) => ({
  required: true,
  content: { 'application/json': { schema: { type: 'object', additionalProperties: false, required, properties } } },
})

/** One operation for every kind of caller, and one for every rule that an operation can declare. */
export const everyRule = [
  { id: 'openThing', 'x-caller': { kind: 'public' }, 'x-cors': 'open' },
  {
    id: 'postOpenThing',
    method: 'post',
    path: '/openThing',
    'x-caller': { kind: 'public' },
    'x-cors': 'open',
    requestBody: jsonBody({ name: { type: 'string' } }),
  },
  { id: 'closedThing', 'x-caller': { kind: 'public' }, 'x-rate-limit': 'none' },
  {
    id: 'merchantThing',
    path: '/merchants/{id}',
    'x-caller': { kind: 'merchant', scope: ['payments.refund.read'] },
    parameters: [pathId],
    'x-errors': ['not_found'],
  },
  { id: 'consoleThing', 'x-caller': { kind: 'console', permission: 'payments.webhook.read' } },
  { id: 'tenantThing', 'x-caller': { kind: 'tenant', permission: 'payments.tenant.read' } },
  { id: 'adminThing', 'x-caller': { kind: 'admin', permission: 'payments.kyc.review' } },
  { id: 'userThing', 'x-caller': { kind: 'user' } },
  { id: 'credentialThing', 'x-caller': { kind: 'credential' } },
  { id: 'serviceThing', 'x-caller': { kind: 'service', permission: 'identity.tenant.read' } },
  { id: 'sellerThing', 'x-caller': { kind: 'seller', permission: 'marketplace.order.read' } },
  {
    id: 'linkThing',
    path: '/links/{code}',
    'x-caller': { kind: 'signed-link' },
    parameters: [{ name: 'code', in: 'path', required: true, schema: { type: 'string' } }],
  },
  { id: 'providerThing', method: 'post', path: '/providers', 'x-caller': { kind: 'provider' }, 'x-body': 'raw' },
  { id: 'bffThing', 'x-caller': { kind: 'bff' } },
  { id: 'shopperThing', 'x-caller': { kind: 'shopper' } },
  {
    id: 'sandboxThing',
    method: 'post',
    'x-caller': { kind: 'credential' },
    'x-environment': 'sandbox',
    requestBody: jsonBody({ name: { type: 'string' } }),
  },
  {
    id: 'moduleThing',
    'x-caller': { kind: 'console', permission: 'payments.webhook.read' },
    'x-module': 'disbursement',
  },
  {
    id: 'stepUpThing',
    method: 'post',
    'x-caller': { kind: 'tenant', permission: 'payments.tenant.write' },
    'x-step-up': true,
    requestBody: jsonBody({ name: { type: 'string' } }, ['name']),
  },
  { id: 'featureThing', 'x-caller': { kind: 'bff' }, 'x-feature': 'reviews' },
  { id: 'openShopThing', method: 'post', 'x-caller': { kind: 'bff' }, 'x-when-closed': 'refuse', 'x-body': 'ignored' },
  { id: 'captchaThing', method: 'post', 'x-caller': { kind: 'bff' }, 'x-captcha': true, 'x-body': 'ignored' },
  {
    id: 'placeThing',
    method: 'post',
    'x-transaction': 'write',
    'x-caller': { kind: 'shopper' },
    'x-idempotency': 'optional',
    'x-feature': 'promos',
    'x-when-closed': 'refuse',
    'x-captcha': true,
    'x-errors': ['invalid_state'],
    requestBody: jsonBody({ name: { type: 'string' } }, ['name']),
  },
  {
    id: 'createThing',
    method: 'post',
    'x-transaction': 'write',
    'x-caller': { kind: 'merchant', scope: ['payments.refund.create'] },
    'x-idempotency': 'optional',
    'x-errors': ['invalid_state'],
    requestBody: jsonBody({ name: { type: 'string' }, tags: anyObject, fail: { type: 'string' } }, ['name']),
  },
  {
    id: 'ignoredThing',
    method: 'post',
    'x-caller': { kind: 'public' },
    'x-rate-limit': 'none',
    'x-body': 'ignored',
    'x-max-body': 100,
    'x-ignored-query': ['host'],
  },
  {
    id: 'smallThing',
    method: 'post',
    'x-caller': { kind: 'public' },
    'x-rate-limit': 'none',
    'x-max-body': 64,
    requestBody: jsonBody({ name: { type: 'string' } }),
  },
  {
    id: 'clientThing',
    method: 'post',
    'x-caller': { kind: 'public' },
    'x-rate-limit': 'client',
    requestBody: {
      required: true,
      content: Object.fromEntries(
        ['application/json', 'application/x-www-form-urlencoded'].map((type) => [
          type,
          {
            schema: {
              type: 'object',
              additionalProperties: false,
              required: ['client_id'],
              properties: { client_id: { type: 'string' } },
            },
          },
        ]),
      ),
    },
  },
  {
    id: 'listThings',
    'x-caller': { kind: 'public' },
    'x-rate-limit': 'none',
    parameters: [
      { name: 'page', in: 'query', schema: { type: 'integer', default: 1, 'x-clamp': [1, Number.MAX_SAFE_INTEGER] } },
      { name: 'limit', in: 'query', schema: { type: 'integer', default: 20, 'x-clamp': [1, 100] } },
      { name: 'status', in: 'query', schema: { type: 'array', items: { type: 'string' }, maxItems: 3 } },
      {
        name: 'code',
        in: 'query',
        schema: { type: 'string', pattern: '^[0-9]+$', 'x-error': { pattern: 'invalid_auth_code' } },
      },
      { name: 'X-Colour', in: 'header', schema: { type: 'string', maxLength: 5 } },
    ],
  },
  {
    id: 'writeByRead',
    method: 'post',
    'x-caller': { kind: 'public' },
    'x-rate-limit': 'none',
    'x-transaction': 'read',
  },
  { id: 'queryThing', 'x-caller': { kind: 'public' }, 'x-rate-limit': 'none', 'x-transaction': undefined },
  {
    id: 'choiceThing',
    method: 'post',
    'x-caller': { kind: 'public' },
    'x-rate-limit': 'none',
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: {
            oneOf: [
              {
                type: 'object',
                additionalProperties: false,
                required: ['card'],
                properties: { card: { type: 'string', maxLength: 4, 'x-error': 'invalid_auth_code' } },
              },
              {
                type: 'object',
                additionalProperties: false,
                required: ['bank'],
                properties: { bank: { type: 'string' } },
              },
            ],
          },
        },
      },
    },
  },
] as const satisfies readonly SyntheticOperation[]

/** Ids of the operations that `everyRule` lists. */
export type SyntheticId = (typeof everyRule)[number]['id']

/** A bundled document with these operations, errors filled in as the bundler does. */
export function syntheticDocument(operations: readonly SyntheticOperation[]): object {
  const paths: Record<string, Record<string, object>> = {}
  const document = { 'x-service': 'synthetic', paths } as unknown as Document
  for (const { id, method = 'get', path = `/${id}`, responses, ...given } of operations) {
    const rest: Partial<SyntheticOperation> = { 'x-transaction': 'none', ...given }
    const operation = {
      operationId: id,
      ...rest,
      responses: responses ?? { 200: { description: 'done', content: { 'application/json': { schema: anyObject } } } },
    }
    // Without a caller there is nothing to imply errors from; the document is to be refused for it.
    const implied =
      'x-caller' in rest && !responses ? errorResponses(codesOf(structuredClone(operation) as never, document)) : {}
    const captcha = rest['x-captcha']
      ? [{ name: 'X-Marketplace-Captcha-Token', in: 'header', schema: { type: 'string' } }]
      : []
    const parameters = [...(rest.parameters ?? []), ...captcha]
    ;(paths[path] ??= {})[method] = {
      ...operation,
      ...(parameters.length > 0 && { parameters }),
      responses: { ...operation.responses, ...implied },
    }
  }
  return {
    openapi: '3.0.3',
    info: { title: 'Synthetic', version: '1' },
    servers: [{ url: 'http://synthetic.test/v1' }],
    paths,
  }
}

/** The declared response of each status of the codes. */
export function errorResponses(codes: readonly string[]): Record<string, object> {
  const known = codes.filter((code): code is keyof typeof errors => Object.hasOwn(errors, code))
  return Object.fromEntries(
    [...Map.groupBy(known, (code) => errors[code].status)].map(([status, group]) => {
      const members = group.flatMap((code) => [...errors[code].members])
      const text = { type: 'string' }
      return [
        String(status),
        {
          description: group.join(),
          content: {
            'application/json': {
              schema: {
                type: 'object',
                additionalProperties: false,
                required: ['error', 'message', 'request_id'],
                properties: {
                  error: { type: 'string', enum: group },
                  message: text,
                  request_id: text,
                  ...Object.fromEntries(members.map((name) => [name, {}])),
                },
              },
            },
          },
        },
      ]
    }),
  )
}
