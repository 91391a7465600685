import { OpenAPIBackend } from 'openapi-backend'
import type { Document, Operation as DocumentOperation } from 'openapi-backend'
import type { Guard } from './exchange.ts'
import type { CallerRule, Operation, Parameter, Schema, TransactionMode } from './operation.ts'
import { missingGuards, orderProblems } from './guardOrder.ts'
import { ruleProblems } from './ruleProblems.ts'
import { shapeProblems } from './shapeProblems.ts'
import { validatorOptions } from './validator.ts'

/** Rules that the pipeline itself enforces, beside those of the guards. */
const pipelineRules = ['x-caller', 'x-transaction', 'x-idempotency', 'x-body', 'x-max-body', 'x-ignored-query', 'x-cors', 'x-errors']
const defaultMaxBody = 262_144
const uploadMaxBody = 10_485_760

export interface Contract {
  document: string
  api: OpenAPIBackend
  operations: readonly Operation[]
}

/**
 * Compiles a bundled document. Refuses what could not be enforced, with every reason in one message: an operation
 * without caller or id, a rule that nothing enforces, two paths that match one request (decision 1.10).
 */
export async function compileContract(document: string, bundle: unknown, guards: readonly Guard[]): Promise<Contract> {
  const root = rootOf(bundle)
  const api = new OpenAPIBackend({ definition: forServer(bundle) as Document, apiRoot: root === '' ? '/' : root, ...validatorOptions })
  await api.init()
  const problems: string[] = orderProblems(guards)
  const enforced = new Set([...pipelineRules, ...guards.flatMap((guard) => guard.enforces)])
  const operations = api.router.getOperations().map((source) => compileOperation(document, root, source, problems))
  const seen = new Set<string>()
  for (const operation of operations) {
    if (seen.has(operation.id)) problems.push(`${operation.id}: stands twice in the document`)
    seen.add(operation.id)
    const missing = missingGuards(operation, guards)
    for (const rule of operation.rules.keys()) {
      if (!enforced.has(rule) && !missing.some((guard) => guard.rule === rule)) problems.push(`${operation.id}: nothing enforces ${rule}`)
    }
    problems.push(...missing.map(({ name, rule }) => `${operation.id}: nothing enforces ${rule}: the service has no guard ${name}`))
    problems.push(...ruleProblems(operation), ...shapeProblems(operation), ...compileProblems(api, operation))
  }
  problems.push(...ambiguousPaths([...new Set(operations.map((operation) => operation.path))]))
  if (problems.length > 0) throw new Error(`The ${document} document cannot be served:\n  ${problems.join('\n  ')}`)
  return { document, api, operations }
}

/** Compiles the request schemas now, so that one that cannot be compiled stops the start and not the first request. */
function compileProblems({ validator }: OpenAPIBackend, { id, source }: Operation): string[] {
  if (!source.operationId) return []
  try {
    validator.requestValidators[id] = validator.buildRequestValidatorsForOperation(source)
    return []
  } catch (error) {
    return [`${id}: a schema of its request does not compile: ${(error as Error).message}`]
  }
}

/** The path that all paths of the document stand below: that of its first server. */
function rootOf(bundle: unknown): string {
  const url = (bundle as { servers?: { url?: string }[] }).servers?.[0]?.url ?? ''
  return url.replace(/^[a-z]+:\/\/[^/]+/, '').replace(/\/$/, '')
}

/** Refuses an operation without a handler and a handler without an operation. */
export function assertHandlers(contract: Contract, handlers: Record<string, unknown>): void {
  const ids = new Set(contract.operations.map((operation) => operation.id))
  const problems = [
    ...[...ids].filter((id) => typeof handlers[id] !== 'function').map((id) => `${id}: has no handler`),
    ...Object.keys(handlers).filter((id) => !ids.has(id)).map((id) => `${id}: a handler without an operation`),
  ]
  if (problems.length > 0) throw new Error(`The ${contract.document} service cannot start:\n  ${problems.join('\n  ')}`)
}

function compileOperation(document: string, root: string, source: DocumentOperation, problems: string[]): Operation {
  const id = source.operationId ?? `${source.method} ${source.path}`
  if (!source.operationId) problems.push(`${id}: has no operationId`)
  const rules = new Map(Object.entries(source).filter(([key]) => key.startsWith('x-')))
  const caller = rules.get('x-caller') as CallerRule | undefined
  const requestBody = source.requestBody as { required?: boolean, content?: Record<string, { schema?: Schema }> } | undefined
  const consumes = Object.keys(requestBody?.content ?? {})
  const bodyRule = rules.get('x-body') as 'ignored' | 'raw' | undefined
  const responses = new Map<number, Set<string>>()
  let produces: string[] = []
  for (const [status, response] of Object.entries(source.responses ?? {})) {
    const content = (response as { content?: Record<string, { schema?: Schema }> }).content ?? {}
    const enumerated = content['application/json']?.schema?.properties?.error?.enum
    responses.set(Number(status), new Set(Number(status) >= 400 ? (enumerated as string[] | undefined) : []))
    if (Number(status) < 300) produces = Object.keys(content)
  }
  return {
    id, document, rules, consumes, produces, responses, source,
    method: source.method,
    path: root + source.path,
    caller: caller ?? { kind: 'public' },
    transaction: (rules.get('x-transaction') as TransactionMode | undefined) ?? (source.method === 'get' ? 'query' : 'write'),
    body: bodyRule ?? (requestBody ? 'parsed' : 'none'),
    bodyRequired: requestBody?.required === true,
    maxBody: (rules.get('x-max-body') as number | undefined) ?? (consumes.includes('multipart/form-data') ? uploadMaxBody : defaultMaxBody),
    parameters: (source.parameters ?? []) as Parameter[],
    bodySchema: (requestBody?.content?.['application/json'] ?? Object.values(requestBody?.content ?? {})[0])?.schema,
  }
}

/**
 * The server's copy of the document: Ajv's discriminator refuses `mapping`, which client generators need, and a body
 * that no JSON schema is applied to must not be asked for by the validator.
 */
function forServer(bundle: unknown): unknown {
  return JSON.parse(JSON.stringify(bundle), function (this: unknown, key, value: unknown) {
    if (value === null || typeof value !== 'object') return value
    if (key === 'discriminator') return { propertyName: (value as { propertyName: string }).propertyName }
    if ('x-body' in value) delete (value as { requestBody?: unknown }).requestBody
    const parameter = value as { in?: unknown, style?: unknown, schema?: unknown }
    // openapi-backend would take the additionalProperties of an object for those of the whole query.
    if (parameter.in === 'query' && parameter.style === 'deepObject') return { ...parameter, schema: { allOf: [parameter.schema] } }
    return value
  })
}

/** Pairs of templates that one request path could match, unless one is concrete where they first differ. */
function ambiguousPaths(paths: readonly string[]): string[] {
  const isTemplate = (segment: string | undefined) => segment?.includes('{') ?? false
  return paths.flatMap((first, index) => paths.slice(index + 1).flatMap((second) => {
    const left = first.split('/')
    const right = second.split('/')
    if (left.length !== right.length) return []
    for (let at = 0; at < left.length; at += 1) {
      if (left[at] === right[at]) continue
      if (isTemplate(left[at]) !== isTemplate(right[at])) return []
      if (!isTemplate(left[at])) return []
    }
    return [`${first} and ${second} match the same requests`]
  }))
}
