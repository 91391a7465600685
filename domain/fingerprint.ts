import { createHash } from 'node:crypto'

/** SHA-256 of operation, path and parsed JSON with sorted members: what tells one use of an idempotency key from another (decision 3.10). */
export function fingerprint(operationId: string, path: string, body: unknown): Buffer {
  return createHash('sha256').update(`${operationId}\n${path}\n${canonical(body)}`).digest()
}

function canonical(value: unknown): string {
  if (value === undefined) return ''
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  const members = Object.entries(value).filter(([, member]) => member !== undefined).sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0)
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join(',')}}`
}
