import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

/** A statement as a program sent it to PostgreSQL. */
export interface Recorded {
  text: string
  parameters: readonly RecordedParameter[]
  /** Connections in the order in which they were opened. */
  connection: number
  /** The same for statements that were sent together, without waiting for the answers of the ones before. */
  flight: number
}

export interface RecordedParameter {
  /** The type that the program named; 0 where it left it to the server. */
  type: number
  /** As text; null for null. */
  value: string | null
}

/** Stands between a program and PostgreSQL and writes down every statement. */
export interface Recorder {
  /** Address of the database by way of the recorder. */
  url: string
  /** What was sent since the last call. */
  take(): Recorded[]
  stop(): Promise<void>
}

/** Starts a recorder before the database of `url`. It reads version 3 of the protocol, without TLS, values as text. */
export async function startRecorder(url: string): Promise<Recorder> {
  const target = new URL(url)
  const open = new Set<Socket>()
  let recorded: Recorded[] = []
  let connections = 0
  let flights = 0
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    const connection = ++connections
    const texts = new Map<string, { text: string, types: readonly number[] }>()
    let unanswered = 0
    let flight = 0
    const note = (text: string, parameters: readonly RecordedParameter[]): void => {
      if (unanswered === 0) flight = ++flights
      unanswered += 1
      recorded.push({ text, parameters, connection, flight })
    }
    const sent = messages(true, (kind, body) => {
      if (kind === 'Q') note(textAt(body, 0).text, [])
      if (kind === 'P') readParse(body, texts)
      if (kind === 'B') {
        const { text, parameters } = readBind(body, texts)
        note(text, parameters)
      }
    })
    const answered = messages(false, (kind) => {
      if (kind === 'Z' && unanswered > 0) unanswered -= 1
    })
    client.on('data', (part: Buffer) => {
      sent(part)
      upstream.write(part)
    })
    upstream.on('data', (part: Buffer) => {
      answered(part)
      client.write(part)
    })
    for (const [socket, other] of [[client, upstream], [upstream, client]] as const) {
      open.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        open.delete(socket)
        other.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const own = new URL(url)
  own.hostname = '127.0.0.1'
  own.port = String((server.address() as AddressInfo).port)
  return {
    url: own.href,
    take() {
      const taken = recorded
      recorded = []
      return taken
    },
    stop: () => new Promise((resolve) => {
      server.close(() => resolve())
      for (const socket of open) socket.destroy()
    }),
  }
}

/** Cuts a stream of protocol messages. A client's first one has no kind. */
function messages(fromClient: boolean, take: (kind: string, body: Buffer) => void): (part: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  let untyped = fromClient
  return (part) => {
    rest = rest.length === 0 ? part : Buffer.concat([rest, part])
    for (;;) {
      const head = untyped ? 0 : 1
      if (rest.length < head + 4) return
      const end = head + rest.readInt32BE(head)
      if (rest.length < end) return
      if (!untyped) take(String.fromCharCode(rest[0] ?? 0), rest.subarray(head + 4, end))
      untyped = false
      rest = rest.subarray(end)
    }
  }
}

type Prepared = Map<string, { text: string, types: readonly number[] }>

function readParse(body: Buffer, texts: Prepared): void {
  const name = textAt(body, 0)
  const text = textAt(body, name.next)
  const count = body.readInt16BE(text.next)
  texts.set(name.text, { text: text.text, types: Array.from({ length: count }, (_, at) => body.readInt32BE(text.next + 2 + at * 4)) })
}

function readBind(body: Buffer, texts: Prepared): { text: string, parameters: RecordedParameter[] } {
  const portal = textAt(body, 0)
  const name = textAt(body, portal.next)
  const prepared = texts.get(name.text)
  if (!prepared) throw new Error(`the statement ${name.text} was never prepared`)
  const formats = body.readInt16BE(name.next)
  for (let at = 0; at < formats; at += 1) if (body.readInt16BE(name.next + 2 + at * 2) !== 0) throw new Error('a value was sent in binary')
  let at = name.next + 2 + formats * 2
  const count = body.readInt16BE(at)
  at += 2
  const parameters = Array.from({ length: count }, (_, index) => {
    const length = body.readInt32BE(at)
    const value = length < 0 ? null : body.toString('utf8', at + 4, at + 4 + length)
    at += 4 + Math.max(length, 0)
    return { type: prepared.types[index] ?? 0, value }
  })
  return { text: prepared.text, parameters }
}

function textAt(body: Buffer, from: number): { text: string, next: number } {
  const end = body.indexOf(0, from)
  return { text: body.toString('utf8', from, end), next: end + 1 }
}
