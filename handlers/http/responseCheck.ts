import type { OpenAPIBackend } from 'openapi-backend'
import type { Reply } from './exchange.ts'
import type { Operation } from './operation.ts'

/** Says how an answer breaks the document: a status or error code that is not declared, or a body of another shape. */
export function assertDeclared(api: OpenAPIBackend, operation: Operation, { status, body }: Reply): Error | null {
  const codes = operation.responses.get(status)
  if (!codes) return new Error(`${operation.id} answered ${status}, which it does not declare`)
  const code = (body as { error?: string } | undefined)?.error
  if (status >= 400 && (code === undefined || !codes.has(code))) {
    return new Error(`${operation.id} answered ${status} ${String(code)}, which it does not declare`)
  }
  // The validator knows the JSON that is sent: dates as text, absent members absent.
  const sent: unknown = body === undefined ? null : JSON.parse(JSON.stringify(body))
  const { errors } = api.validator.validateResponse(sent, operation.source, status)
  if (!errors) return null
  const reasons = errors.slice(0, 5).map(({ instancePath, message, params }) => `${instancePath} ${message ?? ''} ${JSON.stringify(params)}`)
  return new Error(`${operation.id} answered ${status} with a body that breaks its schema: ${reasons.join('; ')}`)
}
