import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll } from 'vitest'

export interface RecordedAnswer {
  readonly status?: number
  /** Text is sent as it is. */
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface Asked {
  readonly route: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly json: unknown
}

export interface RecordedServer {
  readonly url: string
  readonly asked: Asked[]
  /** The route's answers from now on, in their order; the last one is repeated. */
  answer(route: string, ...answers: RecordedAnswer[]): void
}

/** A provider that answers what was recorded of one, over HTTP; a route without a recording is cut off. Ends with the test file. */
export async function recordedServer(): Promise<RecordedServer> {
  const answers = new Map<string, RecordedAnswer[]>()
  const asked: Asked[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const route = `${request.method} ${request.url}`
      const text = Buffer.concat(chunks).toString()
      asked.push({ route, headers: request.headers, json: text === '' ? null : JSON.parse(text) as unknown })
      const recorded = answers.get(route) ?? []
      const answer = recorded.length > 1 ? recorded.shift() : recorded[0]
      if (answer === undefined) {
        request.socket.destroy()
        return
      }
      response.writeHead(answer.status ?? 200, answer.headers).end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterAll(() => new Promise((resolve) => {
    server.closeAllConnections()
    server.close(resolve)
  }))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked,
    answer: (route, ...given) => void answers.set(route, given),
  }
}
