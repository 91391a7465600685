import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Runtime } from '../../domain/runtime.ts'
import { answers } from './answers.ts'
import type { AnswerChooser, AnswerRule } from './answers.ts'
import { toldBy } from './deliveries.ts'
import type { Answer, Deliveries, Delivery } from './deliveries.ts'
import { checkSignature, uncheckedSignature } from './signature.ts'

export interface ReceiverParts {
  kept: Deliveries
  chooser: AnswerChooser
  /** Secret of the subscription. */
  secret: string
  runtime: Pick<Runtime, 'now' | 'sleep'>
}

/** Longest body that is taken. */
export const mostBodyBytes = 262_144

/** Takes a delivery and answers it: as a receiver should (204, or 401 where the signature is wrong), or as was chosen. It is listed either way. */
export async function receive(request: IncomingMessage, response: ServerResponse, parts: ReceiverParts): Promise<void> {
  if (request.method !== 'POST') {
    response.writeHead(405, { Allow: 'POST' }).end()
    return
  }
  const taken = await bodyOf(request).catch(() => null)
  // The sender went away before the end: there is nobody to answer, and nothing was delivered.
  if (taken === null) return
  const delivery = list(request, taken, parts)
  if (!taken.isWhole) {
    response.writeHead(413, { Connection: 'close' }).end()
    parts.kept.answered(delivery.number, { state: 'answered', status: 413, milliseconds: 0, chosen: false })
    return
  }
  await answer(response, delivery, parts)
}

/** The bytes of a body, up to the most that is taken. Throws when the sender went away. */
async function bodyOf(request: IncomingMessage): Promise<{ body: Buffer, isWhole: boolean }> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    parts.push(part)
    length += part.length
    if (length > mostBodyBytes) return { body: Buffer.concat(parts).subarray(0, mostBodyBytes), isWhole: false }
  }
  return { body: Buffer.concat(parts), isWhole: true }
}

function list(request: IncomingMessage, { body, isWhole }: { body: Buffer, isWhole: boolean }, { kept, runtime, secret }: ReceiverParts): Delivery {
  const header = (name: string): string | undefined => [request.headers[name]].flat().join(', ') || undefined
  const receivedAt = runtime.now()
  const [current, previous] = [header('x-service-signature'), header('x-service-signature-previous')]
  return kept.add({
    receivedAt, body, isWhole, path: request.url ?? '/',
    check: isWhole ? checkSignature({ current, previous, body }, [secret], receivedAt) : uncheckedSignature(current, mostBodyBytes),
    headers: Array.from({ length: request.rawHeaders.length / 2 }, (_, at) =>
      [request.rawHeaders[at * 2] ?? '', request.rawHeaders[at * 2 + 1] ?? ''] as const),
    kind: header('x-service-event-kind') ?? null, deliveryId: header('x-service-delivery-id') ?? null, told: toldBy(body),
    answer: { state: 'answering', status: null, milliseconds: 0, chosen: false },
  })
}

async function answer(response: ServerResponse, { check, kind, number, receivedAt }: Delivery, { chooser, kept, runtime }: ReceiverParts): Promise<void> {
  const rule = chooser.take(kind)
  const answered = (state: Answer['state'], status: number | null): void =>
    kept.answered(number, { state, status, milliseconds: runtime.now().getTime() - receivedAt.getTime(), chosen: rule !== undefined })
  if (!rule) {
    const status = check.genuine ? 204 : 401
    response.writeHead(status).end()
    answered('answered', status)
    return
  }
  const { afterSeconds, status } = answers[rule.answer]
  if (afterSeconds > 0) {
    kept.answered(number, { state: 'answering', status: null, milliseconds: 0, chosen: true })
    // Whoever stops waiting is seen at once, not at the end of the wait.
    const gone = new Promise<void>((resolve) => response.once('close', resolve))
    await Promise.race([runtime.sleep(afterSeconds * 1000), gone])
  }
  if (response.destroyed || response.closed) {
    answered('given up', null)
  } else if (status === null) {
    response.destroy()
    answered('dropped', null)
  } else {
    response.writeHead(status, headersOf(rule)).end()
    answered('answered', status)
  }
}

function headersOf({ answer: name, retryAfterSeconds }: AnswerRule): Record<string, string> {
  return name === '429' ? { 'Retry-After': String(retryAfterSeconds) } : name === '302' ? { Location: '/moved' } : {}
}
