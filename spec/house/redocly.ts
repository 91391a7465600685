import type { Follow, Ref } from './openapi.ts'

/** The place of a node: its file and the pointer inside it. */
export interface Location {
  source: { absoluteRef: string }
  pointer: string
  child(path: (string | number)[]): Location
}

/** What Redocly hands to a visitor, as far as the house rules use it. */
export interface Context {
  report(problem: { message: string; location?: Location }): void
  resolve(node: unknown, from?: string): { node?: unknown; location?: Location }
  location: Location
  key: string | number
  type: { name: string }
}

/** Follows references through the split files. */
export function follower(context: Context): Follow {
  return <T>(node: T | Ref, from?: string) => {
    let at = from ?? context.location.source.absoluteRef
    let found: unknown = node
    while (found !== null && typeof found === 'object' && '$ref' in found) {
      const next = context.resolve(found, at)
      found = next.node
      at = next.location?.source.absoluteRef ?? at
    }
    return { node: found as T, from: at }
  }
}
