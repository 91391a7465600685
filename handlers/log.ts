import pino from 'pino'
import type { Logger } from 'pino'
import type { Configuration } from '../domain/configuration.ts'
import type { CallbackNotice, CallbackObserver } from '../jobs/processCallback.ts'
import { actorOf } from './http/caller.ts'
import type { Exchange } from './http/exchange.ts'
import type { Observation } from './http/pipeline.ts'

/** Structured logs of a process, one JSON line each, with pino's own field names. */
export function createLog(process: string, { LOG_LEVEL }: Pick<Configuration, 'LOG_LEVEL'>, destination?: pino.DestinationStream): Logger {
  const options = { level: LOG_LEVEL, base: { process }, timestamp: pino.stdTimeFunctions.isoTime, redact: ['headers.authorization', 'headers.cookie'] }
  return destination ? pino(options, destination) : pino(options)
}

/** Names that a document marks `x-secret`, at any depth: nothing under them is ever logged (decision 5.6). */
export function secretNames(bundle: unknown): ReadonlySet<string> {
  const names = new Set<string>()
  const seen = new Set<object>()
  const walk = (node: unknown): void => {
    // A resolved document may lead back to where it was.
    if (node === null || typeof node !== 'object' || seen.has(node)) return
    seen.add(node)
    for (const [key, value] of Object.entries(node)) {
      if (key === 'properties' && value !== null && typeof value === 'object') {
        for (const [name, schema] of Object.entries(value as Record<string, { 'x-secret'?: boolean } | null>)) {
          if (schema?.['x-secret'] === true) names.add(name)
        }
      }
      if (key === 'parameters' && Array.isArray(value)) {
        for (const parameter of value as { name?: string, schema?: { 'x-secret'?: boolean } }[]) {
          if (parameter.name !== undefined && parameter.schema?.['x-secret'] === true) names.add(parameter.name)
        }
      }
      walk(value)
    }
  }
  walk(bundle)
  return names
}

/** A copy without what stands under a secret name. */
export function redacted(value: unknown, names: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((entry) => redacted(entry, names))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, names.has(key) ? '[redacted]' : redacted(member, names)]))
}

/** Logs each answered request; at level debug the refused ones with their body, redacted. */
export function requestLogger(log: Logger, names: ReadonlySet<string>): (observation: Observation) => void {
  return ({ operationId, status, code, duration, exchange }) => {
    if (!log.isLevelEnabled('info')) return
    const entry = {
      operation: operationId, status, ...(code !== undefined && { code }), ms: Math.round(duration * 10) / 10,
      ...(exchange && { request_id: exchange.requestId, actor: actorOf(exchange.caller), ...keyPrefix(exchange) }),
    }
    if (status >= 400 && status < 500 && exchange && log.isLevelEnabled('debug')) {
      log.debug({ ...entry, query: redacted(exchange.query, names), body: redacted(exchange.body, names) }, 'refused')
    } else log.info(entry, 'request')
  }
}

/** Logs the cause of a 500 or 503. Statements, their values, and what the request carried as a secret stay out of it. */
export function reporter(log: Logger): (error: unknown, exchange: Exchange | undefined, requestId: string) => void {
  return (error, exchange, requestId) => {
    const entry = { request_id: requestId, operation: exchange?.operation.id, error: errorOf(error, exchange ? secretsOf(exchange) : []) }
    log.error(entry, 'failed')
  }
}

/** What is logged of an error: nothing of the values that were at work, nothing that looks like a credential, and none of `secrets`. */
export function errorOf(error: unknown, secrets: readonly string[] = []): object {
  const clean = (text: string | undefined) => text === undefined ? undefined : withoutSecrets(text, secrets)
  if (!(error instanceof Error)) return { message: clean(String(error)) }
  const { name } = error
  const [message, stack] = [clean(error.message), clean(error.stack)]
  const { code, constraint_name, reason } = error as { code?: unknown, constraint_name?: unknown, reason?: unknown }
  return { name, message, code, constraint_name, reason, stack, ...(error.cause !== undefined && { cause: errorOf(error.cause, secrets) }) }
}

const credentialForms = [/sk_(?:test|live)_[0-9A-Za-z]+/g, /whsec_[\w-]+/g, /eyJ[\w-]+\.[\w-]+\.[\w-]*/g, /(?<=:\/\/)[^\s/@]+(?=@)/g]

function withoutSecrets(text: string, secrets: readonly string[]): string {
  const known = secrets.reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text)
  return credentialForms.reduce((rest, form) => rest.replace(form, '[redacted]'), known)
}

/** Shorter values occur in any text by chance. */
const shortestSecret = 4

/** What the request carried under a name that the document marks `x-secret`, and its credentials. */
function secretsOf({ operation, request, body, query }: Exchange): string[] {
  const names = secretNames(operation.source)
  const found = [request.headers.authorization?.split(' ').at(-1) ?? '']
  const walk = (value: unknown, secret: boolean): void => {
    if (typeof value === 'string' && secret) found.push(value)
    if (value === null || typeof value !== 'object') return
    for (const [name, member] of Object.entries(value)) walk(member, secret || names.has(name))
  }
  walk(body, false)
  walk(query, false)
  return found.filter((secret) => secret.length >= shortestSecret)
}

function keyPrefix({ caller }: Exchange): object {
  return caller.kind === 'api_key' ? { key_prefix: caller.prefix } : {}
}

/** Logs what becomes of callbacks, and counts it: at `warn` what a person should see, which never was confirmed, or fits or matches nothing. */
export function callbackObserver(log: Logger, count: (notice: CallbackNotice) => void = () => undefined): CallbackObserver {
  return {
    processed(notice) {
      const { id, provider, outcome, detail, waits } = notice
      count(notice)
      log[needsSomebody(notice) ? 'warn' : 'info']({ callback: id, provider, outcome, detail, waits }, 'callback')
    },
    failed(error, { provider, callbackId }) {
      log.error({ error: errorOf(error), provider, callback: callbackId }, 'callbacks')
    },
  }
}

function needsSomebody({ outcome, waits }: CallbackNotice): boolean {
  return outcome === 'mismatched' || (!waits && (outcome === 'unconfirmed' || outcome === 'unmatched'))
}
