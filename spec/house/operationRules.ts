import { basename } from 'node:path'
import { CALLERS } from './codes.ts'
import { roles } from './http.ts'
import type { MediaType, Operation, Response, Schema } from './openapi.ts'
import type { Context } from './redocly.ts'
import { follower } from './redocly.ts'

/** Rules see the operations under `paths` only: webhooks have no caller and answer nothing of ours. */
const underPaths = (check: (operation: Operation, context: Context) => void) => () => ({
  Paths: { PathItem: { Operation: { enter: check } } },
})

const say = (context: Context, message: string, ...path: string[]): void =>
  context.report({ message, ...(path.length ? { location: context.location.child(path) } : {}) })

/** The file is named by its operation, and holds nothing else. */
export const operationIdIsFileName = underPaths((operation, context) => {
  const file = basename(context.location.source.absoluteRef, '.yaml')
  if (context.location.pointer !== '#/') return
  if (operation.operationId !== file) say(context, `operationId must be ${file}, the name of its file.`, 'operationId')
})

/** A verb, then what it acts on, in camel case: createPaymentIntent, not paymentIntent or createHTTPKey. */
export const operationIdStyle = underPaths((operation, context) => {
  if (typeof operation.operationId !== 'string') return
  if (!/^[a-z]+([A-Z][a-z0-9]+)+$/.test(operation.operationId)) {
    say(context, `operationId ${operation.operationId} must be a verb and a noun in camel case.`, 'operationId')
  }
})

export const oneTag = underPaths((operation, context) => {
  const place = operation.tags ? ['tags'] : []
  if (operation.tags?.length !== 1) say(context, 'An operation has exactly one tag.', ...place)
})

/** x-caller is there, of a known kind, and takes what its kind takes, from what is registered in http/roles.yaml. */
export const callerDeclared = underPaths((operation, context) => {
  const caller = operation['x-caller']
  if (caller === undefined) return say(context, 'x-caller is missing: every operation says who may call it.')
  const wrong = (message: string): void => say(context, message, 'x-caller')
  const kind = CALLERS[caller?.kind]
  if (!kind) return wrong(`x-caller: kind must be one of ${Object.keys(CALLERS).join(', ')}.`)
  for (const member of Object.keys(caller)) {
    if (member !== 'kind' && member !== kind.takes) wrong(`x-caller: a ${caller.kind} takes no ${member}.`)
  }
  if (kind.takes === 'scope') {
    if (!Array.isArray(caller.scope) || !caller.scope.length) return wrong('x-caller: scope must be a list of scopes.')
    const unknown = caller.scope.filter((scope) => !Object.hasOwn(roles.scopes, scope))
    if (unknown.length) wrong(`x-caller: ${unknown.join(', ')} is not among the scopes of spec/http/roles.yaml.`)
  }
  if (kind.takes === 'permission') {
    const list = caller.kind === 'service' ? 'client_permissions' : 'permissions'
    if (typeof caller.permission !== 'string') return wrong(`x-caller: a ${caller.kind} needs a permission.`)
    if (!roles[list].includes(caller.permission)) {
      wrong(`x-caller: ${caller.permission} is not among the ${list} of spec/http/roles.yaml.`)
    }
  }
})

const STEPS_UP = ['console', 'tenant', 'admin', 'user', 'seller']
const STOREFRONT = ['bff', 'shopper']

/** Keys that say something about a caller or a body need that caller or body. */
export const keysFit = underPaths((operation, context) => {
  const kind = operation['x-caller']?.kind ?? ''
  if (operation['x-step-up'] && !STEPS_UP.includes(kind)) {
    say(context, 'x-step-up needs a caller who can step up.', 'x-step-up')
  }
  for (const key of ['x-feature', 'x-when-closed', 'x-captcha'] as const) {
    if (operation[key] !== undefined && !STOREFRONT.includes(kind)) {
      say(context, `${key} needs the caller bff or shopper.`, key)
    }
  }
  if (operation['x-max-body'] !== undefined && !operation.requestBody && !operation['x-body']) {
    say(context, 'x-max-body needs a body.', 'x-max-body')
  }
  if (operation['x-body'] === 'ignored' && operation.requestBody) {
    say(context, 'An ignored body is not described: leave requestBody out.', 'requestBody')
  }
})

/** Errors come from x-errors and what the rules imply; successes stand in place, so that headers can be added. */
export const errorsImplied = underPaths((operation, context) => {
  const statuses = Object.keys(operation.responses ?? {})
  for (const status of statuses) {
    if (!/^[123]\d\d$/.test(status)) {
      say(context, `Do not write a ${status} response: list its codes in x-errors.`, 'responses', status)
    } else if ('$ref' in (operation.responses[status] ?? {})) {
      say(context, 'Write a success response in its operation, not by $ref.', 'responses', status)
    }
  }
  if (!statuses.some((status) => status.startsWith('2'))) {
    say(context, 'An operation declares its success.', 'responses')
  }
})

/** Lists that carry a second array beside the one of their resource: the brief's category bar. */
const SECOND_ARRAYS: Record<string, string[]> = { listMarketplaceCatalog: ['categories'] }
const ENVELOPE = ['total', 'page', 'limit', 'total_pages']

/** A page of a list is one array with total, page, limit and total_pages, all always there (decision 1.5). */
export const listEnvelope = underPaths((operation, context) => {
  const follow = follower(context)
  const { node: response, from } = follow<Response | undefined>(operation.responses?.['200'])
  const { node: media, from: at } = follow<MediaType | undefined>(response?.content?.['application/json'], from)
  const { node: schema, from: inSchema } = follow<Schema | undefined>(media?.schema, at)
  const members = schema?.properties ?? {}
  if (!('total' in members) && !('total_pages' in members)) return
  const wrong = (message: string): void => say(context, message, 'responses', '200')
  for (const name of ENVELOPE) {
    const member = follow<Schema | undefined>(members[name], inSchema).node
    if (member?.type !== 'integer') wrong(`A list answers ${name}, an integer.`)
    if (!schema?.required?.includes(name)) wrong(`A list always answers ${name}: add it to required.`)
  }
  const typeOf = (name: string): string | undefined => follow<Schema>(members[name] as Schema, inSchema).node?.type
  const arrays = Object.keys(members).filter((name) => typeOf(name) === 'array')
  const own = arrays.filter((name) => !SECOND_ARRAYS[operation.operationId]?.includes(name))
  if (own.length !== 1) wrong(`A list has exactly one array, named by its resource, not ${own.length}.`)
  for (const name of own.filter((array) => !schema?.required?.includes(array))) {
    wrong(`A list always answers ${name}: add it to required.`)
  }
})

/** What a reader, a mock and a smoke run need: an example of every body. Bytes have none. */
export const exampleGiven = () => ({
  MediaType: {
    enter(media: MediaType, context: Context) {
      if (media.example !== undefined || Object.keys(media.examples ?? {}).length) return
      const { node: schema } = follower(context)<Schema | undefined>(media.schema)
      if (schema?.format === 'binary') return
      say(context, 'A body has an example.')
    },
  },
})
