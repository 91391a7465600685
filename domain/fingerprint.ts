import { hash } from 'node:crypto'

/** SHA-256 of operation, path and parsed JSON with sorted members: what tells one use of an idempotency key from another (decision 3.10). */
export function fingerprint(operationId: string, path: string, body: unknown): Buffer {
  return hash('sha256', `${operationId}\n${path}\n${canonical(body)}`, 'buffer')
}

/** Texts that JSON writes as they are. */
const plain = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/

function quoted(text: string): string {
  return plain.test(text) ? `"${text}"` : JSON.stringify(text)
}

function canonical(value: unknown): string {
  if (value === undefined) return ''
  if (typeof value === 'string') return quoted(value)
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  let members = ''
  for (const key of Object.keys(value).sort()) {
    const member = (value as Record<string, unknown>)[key]
    if (member !== undefined) members += `${members === '' ? '' : ','}${quoted(key)}:${canonical(member)}`
  }
  return `{${members}}`
}
