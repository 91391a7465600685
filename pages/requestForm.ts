import type { IncomingMessage } from 'node:http'

const most = 4096

/** The members of a form that a page's own button sends; null when it is none, or larger than any of ours. */
export async function requestForm(request: IncomingMessage): Promise<URLSearchParams | null> {
  if (!/^application\/x-www-form-urlencoded\b/i.test(request.headers['content-type'] ?? '')) return null
  const parts: Buffer[] = []
  let size = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length
    if (size > most) return null
    parts.push(part)
  }
  return new URLSearchParams(Buffer.concat(parts).toString())
}
