import { CALLERS, codesOf, rateLimitOf } from './codes.ts'
import type { CatalogueEntry } from './http.ts'
import { catalogue, headers, parameters } from './http.ts'
import type { Document, Header, Operation, Parameter, Ref, Response, Schema } from './openapi.ts'
import { METHODS } from './openapi.ts'
import type { Context } from './redocly.ts'
import { follower } from './redocly.ts'

const REQUEST_ID = '0197a3c2-77d0-7b1f-8a53-2c1d90e4b6aa'
const RATE_LIMIT = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset']

const SCHEMES: Record<string, unknown> = {
  apiKey: {
    type: 'http', scheme: 'bearer',
    description: 'A secret key of one merchant and one environment, from the dashboard. For servers only.',
  },
  accessToken: {
    type: 'http', scheme: 'bearer', bearerFormat: 'JWT',
    description: 'The access token of a console user, from the identity service. Good for 10 minutes.',
  },
  serviceToken: {
    type: 'http', scheme: 'bearer', bearerFormat: 'JWT',
    description: 'The access token of a client, by client credentials or token exchange.',
  },
}

const pascal = (code: string): string =>
  code.split('_').map((part) => part.charAt(0).toUpperCase() + part.slice(1)).join('')

const entryOf = (code: string): CatalogueEntry => {
  const entry = catalogue[code]
  if (!entry) throw new Error(`${code} is not in spec/http/error-codes.yaml`)
  return entry
}

/** The one response for a set of codes of the same status. */
function errorResponse(codes: string[]): Response {
  const entries = codes.map(entryOf)
  const members: NonNullable<CatalogueEntry['members']> = Object.assign({}, ...entries.map((entry) => entry.members))
  const always = Object.keys(members).filter((name) => entries.every((entry) => entry.members?.[name]?.required))
  const schema: Schema = {
    type: 'object',
    additionalProperties: false,
    required: ['error', 'message', 'request_id', ...always],
    properties: {
      error: { type: 'string', enum: codes, description: 'What went wrong, for programs.' },
      message: { type: 'string', description: 'What went wrong, for people. The wording may change.' },
      request_id: { type: 'string', description: 'The id of this request; quote it when you report a problem.' },
      ...Object.fromEntries(Object.entries(members).map(([name, member]) => [name, structuredClone(member.schema)])),
    },
  }
  const examples = codes.map((code, index) => {
    const { message, members: own = {}, description } = entries[index] as CatalogueEntry
    const shown = Object.entries(own).map(([name, member]) => [name, structuredClone(member.example)])
    const more = Object.fromEntries(shown)
    return [code, { summary: description, value: { error: code, message, request_id: REQUEST_ID, ...more } }]
  })
  const named = ['X-Request-Id', ...new Set(entries.flatMap((entry) => entry.headers ?? []))]
  return {
    description: codes.map((code, i) => `\`${code}\`: ${entries[i]?.description} ${entries[i]?.remedy}`).join('\n\n'),
    headers: Object.fromEntries(named.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    content: { 'application/json': { schema, examples: Object.fromEntries(examples) } },
  }
}

/** Parameters that an operation has because of its x- keys. */
function impliedParameters(operation: Operation): string[] {
  return [
    ...(operation['x-idempotency'] ? ['IdempotencyKey'] : []),
    ...(operation['x-captcha'] ? ['CaptchaToken'] : []),
    ...(operation['x-caller']?.kind === 'shopper' ? ['BuyerSession'] : []),
  ]
}

/** Headers of a success that the machinery sends, whatever the operation. */
function impliedHeaders(operation: Operation): string[] {
  return [
    'X-Request-Id',
    ...(rateLimitOf(operation) === 'none' ? [] : RATE_LIMIT),
    ...(operation['x-idempotency'] ? ['Idempotency-Replayed'] : []),
  ]
}

/**
 * Decorator: completes every operation by what its rules imply, so that the bundle is plain OpenAPI (decision 1.2):
 * error responses, shared and named by their codes; headers; the Idempotency-Key parameter; security.
 */
export function expandErrors() {
  const plans = new Map<Operation, string[]>()
  const used = {
    responses: {} as Record<string, Response>, headers: {} as Record<string, Header>,
    parameters: {} as Record<string, Parameter>, securitySchemes: {} as Record<string, unknown>,
  }
  const headerRef = (name: string): Ref => {
    const header = headers[name]
    if (!header) throw new Error(`${name} is not in spec/http/headers.yaml`)
    used.headers[name] = header
    return { $ref: `#/components/headers/${name}` }
  }
  const expand = (operation: Operation, context: Context): void => {
    const codes = plans.get(operation) ?? []
    const unknown = codes.filter((code) => !catalogue[code])
    for (const code of unknown) context.report({ message: `${code} is not in spec/http/error-codes.yaml` })
    if (unknown.length) return
    for (const response of Object.values(operation.responses)) {
      if ('$ref' in response) continue
      const implied = Object.fromEntries(impliedHeaders(operation).map((name) => [name, headerRef(name)]))
      response.headers = { ...implied, ...response.headers }
    }
    for (const [status, group] of Map.groupBy(codes, (code) => entryOf(code).status)) {
      const name = group.map(pascal).join('Or')
      const made = used.responses[name] ??= errorResponse(group)
      Object.keys(made.headers ?? {}).forEach(headerRef)
      operation.responses[status] = { $ref: `#/components/responses/${name}` }
    }
    const implied = impliedParameters(operation)
    for (const name of implied) used.parameters[name] = parameters[name] as Parameter
    if (implied.length) {
      const refs = implied.map((name) => ({ $ref: `#/components/parameters/${name}` }))
      operation.parameters = [...operation.parameters ?? [], ...refs]
    }
    const schemes = CALLERS[operation['x-caller']?.kind ?? '']?.security ?? []
    for (const scheme of schemes) used.securitySchemes[scheme] = SCHEMES[scheme]
    operation.security = schemes.map((scheme) => ({ [scheme]: [] }))
  }
  return {
    Root: {
      // Codes are found before the bundler rewrites any reference: later, a split file's references no longer resolve.
      enter(root: Document, context: Context) {
        const follow = follower(context)
        for (const item of Object.values(root.paths ?? {})) {
          for (const method of METHODS) {
            const entry = item[method]
            if (!entry) continue
            const { node, from } = follow<Operation>(entry, context.location.source.absoluteRef)
            if (node) plans.set(node, codesOf(node, root, follow, from))
          }
        }
      },
      leave(root: Document) {
        const components = root.components ??= {}
        for (const [kind, made] of Object.entries(used)) {
          if (Object.keys(made).length) components[kind] = { ...components[kind], ...made }
        }
      },
    },
    Paths: { PathItem: { Operation: { leave: expand } } },
    // Deliveries prove themselves by their signature headers, not by a security scheme.
    WebhooksMap: { PathItem: { Operation: { leave(operation: Operation) { operation.security = [] } } } },
  }
}
