import type { ServerResponse } from 'node:http'
import type { Deliveries } from './deliveries.ts'

/** Pages that are told when something changes (server-sent events, WHATWG HTML, section 9.2). */
export interface LivePages {
  /** Keeps the response open and tells it of every change. */
  open(response: ServerResponse): void
  close(): void
}

const mostPages = 100
/** Changes that come this close together are told once. */
const togetherMs = 60
/** So that a page sees when the inbox is gone for good. */
const beatMs = 15_000

export function livePages(kept: Deliveries): LivePages {
  const pages = new Set<ServerResponse>()
  const tell = (text: string): void => pages.forEach((page) => void page.write(text))
  let waiting: NodeJS.Timeout | undefined
  const beat = setInterval(() => tell(':\n\n'), beatMs).unref()
  const forget = kept.onChange(() => {
    if (pages.size === 0) return
    waiting ??= setTimeout(() => {
      waiting = undefined
      tell('event: changed\ndata:\n\n')
    }, togetherMs).unref()
  })
  return {
    open(response) {
      if (pages.size >= mostPages) {
        response.writeHead(503, { 'Retry-After': '5' }).end()
        return
      }
      response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' })
      response.write('retry: 1000\n\n')
      pages.add(response)
      response.once('close', () => pages.delete(response))
    },
    close() {
      clearInterval(beat)
      clearTimeout(waiting)
      forget()
      for (const page of pages) page.end()
    },
  }
}
