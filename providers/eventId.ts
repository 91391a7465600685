import { createHash } from 'node:crypto'

/**
 * The event id of a notice that carries none of its own: of what it says, not of its bytes, since a repeat may be
 * written anew with another time of sending. `parts` tell apart what the notice is about and what became of it.
 */
export function eventIdOf(...parts: readonly (string | null)[]): string {
  return `derived-${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 40)}`
}
