// What adapters read in a provider's JSON; anything of another form is null, or no such thing.

/** JSON text as a value; undefined when it is none (which no JSON text is). */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** A time in RFC 3339 with a zone; null for anything else. */
export function readTime(value: unknown): Date | null {
  if (typeof value !== 'string') return null
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/.test(value)) return null
  const time = new Date(value)
  return Number.isNaN(time.getTime()) ? null : time
}
