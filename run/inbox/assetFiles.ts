import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

export interface InboxAsset {
  path: string
  type: string
  body: Buffer
}

function asset(name: string, type: string): InboxAsset {
  const body = readFileSync(new URL(`./assets/${name}`, import.meta.url))
  return { path: `/${name.replace('.', `-${createHash('sha256').update(body).digest('hex').slice(0, 12)}.`)}`, type, body }
}

/** The page's own files; their addresses change with their content. */
export const style = asset('inbox.css', 'text/css; charset=utf-8')
export const script = asset('inbox.js', 'text/javascript; charset=utf-8')
