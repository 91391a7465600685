import { appendFileSync } from 'node:fs'
import type { operations as identityOperations } from '../../generated/identity.ts'
import type { operations as paymentsOperations } from '../../generated/payments.ts'
import type { operations as storefrontOperations } from '../../generated/storefront.ts'
import type { Contract } from '../../handlers/http/contract.ts'
import type { Operation } from '../../handlers/http/operation.ts'
import { assertDeclared } from '../../handlers/http/responseCheck.ts'

export type Operations = paymentsOperations & identityOperations & storefrontOperations

type Content<Response> = Response extends { content: { 'application/json': infer Body } } ? Body : undefined
/** Every answer that the document declares, told apart by status. */
export type Answer<Id extends keyof Operations> = {
  [Status in keyof Operations[Id]['responses']]: { status: Status, body: Content<Operations[Id]['responses'][Status]>, headers: Headers }
}[keyof Operations[Id]['responses']]

type BodyOf<Id extends keyof Operations> = Operations[Id] extends { requestBody?: { content: infer Types } }
  ? Types extends { 'application/json': infer Body } ? Body : unknown : unknown
type ParamsOf<Id extends keyof Operations> = Operations[Id] extends { parameters: { path: infer Params } } ? Params : Record<string, never>

export interface CallOptions<Id extends keyof Operations> {
  /** Bearer credential; left out: none. */
  as?: string
  body?: BodyOf<Id>
  params?: ParamsOf<Id>
  query?: Record<string, string | string[]>
  headers?: Record<string, string>
  /** Idempotency-Key. */
  key?: string
}

/** A request that the types would not let through. */
export interface RawOptions {
  as?: string
  params?: Record<string, string>
  query?: Record<string, string | string[]>
  headers?: Record<string, string>
  method?: string
  path?: string
  body?: NonNullable<RequestInit['body']>
}

export interface RawAnswer {
  status: number
  body: Record<string, unknown>
  headers: Headers
  text: string
}

export interface Caller {
  /** Calls an operation as a client would. An answer that the document does not declare fails the test. */
  call<Id extends keyof Operations>(id: Id, options?: CallOptions<Id>): Promise<Answer<Id>>
  /** Sends what no client of the document would. The answer must be declared all the same. */
  send(id: keyof Operations, options?: RawOptions): Promise<RawAnswer>
}

/** A caller of the services at `urls`, one for each document. */
export function callerOf(targets: readonly { url: string, contract: Contract }[]): Caller {
  const byId = new Map(targets.flatMap(({ url, contract }) => contract.operations.map((operation) => [operation.id, { url, contract, operation }] as const)))
  const send = async (id: keyof Operations, options: RawOptions = {}): Promise<RawAnswer> => {
    const target = byId.get(id)
    if (!target) throw new Error(`no service under test has the operation ${id}`)
    const { url, contract, operation } = target
    const response = await fetch(url + (options.path ?? pathOf(operation, options)), {
      method: options.method ?? operation.method.toUpperCase(),
      headers: { ...(options.as !== undefined && { Authorization: `Bearer ${options.as}` }), ...options.headers },
      ...(options.body !== undefined && { body: options.body, duplex: 'half' as const }),
      redirect: 'manual',
    })
    const text = await response.text()
    const body = (text === '' ? undefined : JSON.parse(text)) as Record<string, unknown>
    if (options.method === undefined) assertContract(contract, operation, response, body)
    return { status: response.status, body, headers: response.headers, text }
  }
  const call = async <Id extends keyof Operations>(id: Id, options: CallOptions<Id> = {}): Promise<Answer<Id>> => {
    const { body, key, headers, as, params, query } = options
    return await send(id, {
      ...(as !== undefined && { as }), ...(params && { params: params }), ...(query && { query }),
      headers: { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...(key !== undefined && { 'Idempotency-Key': key }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }) as unknown as Answer<Id>
  }
  return { call, send }
}

function pathOf(operation: Operation, { params = {}, query = {} }: RawOptions): string {
  const path = operation.path.replace(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  const pairs = Object.entries(query).flatMap(([name, value]) => [value].flat().map((entry) => [name, entry] as [string, string]))
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs).toString()}`
}

function assertContract(contract: Contract, operation: Operation, response: Response, body: unknown): void {
  const { status } = response
  const broken = assertDeclared(contract.api, operation, { status, body })
  if (broken) throw broken
  if (!response.headers.get('x-request-id')) throw new Error(`${operation.id} answered without X-Request-Id`)
  recordAnswer(operation.id, status, status >= 400 ? (body as { error: string }).error : undefined)
}

/** Notes which declared answers tests have seen; the completeness check reads it at the end of the run. */
export function recordAnswer(operationId: string, status: number, code: string | undefined): void {
  const file = process.env.BAYAR_ANSWERS_SEEN
  if (file) appendFileSync(file, `${operationId} ${status}${code === undefined ? '' : ` ${code}`}\n`)
}
