import { Agent, request } from 'node:http'
import type { DocumentJudge, JudgedOperation, WireAnswer, WireRequest } from './documentJudge.ts'
import type { Credentials } from './fuzzCredentials.ts'
import type { PlannedRequest } from './fuzzRequests.ts'

export interface FuzzTarget {
  judge: DocumentJudge
  operation: JudgedOperation
  credentials: Credentials
  fill(): (text: string) => Promise<string>
  send(operation: JudgedOperation, wire: WireRequest): Promise<WireAnswer>
}

export interface Tried {
  status: number
  /** Whether the document refuses the request itself. */
  refused: boolean
}

/** Sends a planned request. Throws, with the request, when the answer is one that must not be. */
export async function tryRequest(
  { judge, operation, credentials, fill, send }: FuzzTarget,
  planned: PlannedRequest,
): Promise<Tried> {
  const filled = fill()
  const [query, body] = [
    await filled(planned.query),
    planned.body === undefined ? undefined : await filled(planned.body),
  ]
  const path = Object.fromEntries(
    await Promise.all(Object.entries(planned.path).map(async ([name, text]) => [name, await filled(text)] as const)),
  )
  const headers = { ...planned.headers, ...(await credentials.headers(planned.credential, body ?? '')) }
  const wire: WireRequest = { method: operation.method, path, query, headers, body }
  const answer = await send(operation, wire)
  const reasons = judge.refuses(operation, wire)
  const problems = judge.breaks(operation, answer)
  if (answer.status >= 500 && answer.status !== 503) problems.push('it is a failure of the service')
  if (answer.status < 300) {
    problems.push(...reasons.map((reason) => `it accepted what the document refuses: ${reason}`))
    if (credentials.bad.includes(planned.credential)) problems.push(`it accepted ${planned.credential}`)
    if (Object.values(planned.path).some((text) => text.includes('{{other-')))
      problems.push('it accepted a thing of another merchant')
  }
  if (problems.length > 0) {
    const answered = `${operation.operationId} answered ${answer.status} ${answer.text.slice(0, 300)}`
    throw new Error([answered, ...problems, `to ${JSON.stringify(wire).slice(0, 4000)}`].join('\n  '))
  }
  return { status: answer.status, refused: reasons.length > 0 }
}

/** Sends requests to a service one by one, over a connection that is kept. */
export function wireSender(url: (operation: JudgedOperation) => string): { send: FuzzTarget['send']; close(): void } {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return {
    close: () => agent.destroy(),
    send: (operation, { method, path, query, headers, body }) =>
      new Promise((resolve, reject) => {
        const { hostname, port } = new URL(url(operation))
        const full =
          operation.root +
          operation.path.replace(/\{([^}]+)\}/g, (_, name: string) => path[name] ?? '') +
          (query === '' ? '' : `?${query}`)
        const outgoing = request(
          {
            hostname,
            port,
            method,
            path: full,
            agent,
            timeout: 15_000,
            headers: { ...headers, ...(body !== undefined && { 'Content-Length': Buffer.byteLength(body) }) },
          },
          (response) => {
            const parts: Buffer[] = []
            response.on('data', (part: Buffer) => parts.push(part))
            response.on('error', reject)
            response.on('end', () =>
              resolve({
                status: response.statusCode ?? 0,
                headers: response.headers,
                text: Buffer.concat(parts).toString(),
              }),
            )
          },
        )
        outgoing.on('timeout', () => outgoing.destroy(new Error(`${operation.operationId} gave no answer in 15 s`)))
        outgoing.on('error', reject)
        outgoing.end(body)
      }),
  }
}
