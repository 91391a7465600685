/** A body as text. `problem` says why it is not what it should be; null: it is well-formed JSON in UTF-8. */
export interface BodyText {
  text: string
  isUtf8: boolean
  isJson: boolean
  problem: string | null
}

/** Reads bytes as a person would look at them. */
export function readBodyText(body: Buffer): BodyText {
  const text = body.toString()
  const isUtf8 = Buffer.from(text).equals(body)
  const isJson = isUtf8 && isJsonText(text)
  const problem = body.length === 0 ? 'The body is empty.'
    : !isUtf8 ? 'The body is not UTF-8: what cannot be read is shown as \uFFFD, and its first bytes below.'
      : !isJson ? 'The body is not JSON.' : null
  return { text, isUtf8, isJson, problem }
}

function isJsonText(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** A value of a JSON text, written as it came: digits, escapes and doubled names stay. */
export type JsonPart =
  | { kind: 'text' | 'number' | 'word', written: string }
  | { kind: 'object' | 'array', members: readonly { name: string | null, value: JsonPart }[] }

const deepest = 60

/** Takes a well-formed JSON text apart. Null: it lies deeper than anybody would unfold. */
export function partsOfJson(text: string): JsonPart | null {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s"[\]{},:]+/g) ?? []
  let at = 0
  const value = (depth: number): JsonPart | null => {
    const token = tokens[at++] ?? ''
    if (token !== '{' && token !== '[') return { kind: token.startsWith('"') ? 'text' : /^[-\d]/.test(token) ? 'number' : 'word', written: token }
    if (depth === deepest) return null
    const members: { name: string | null, value: JsonPart }[] = []
    while (tokens[at] !== '}' && tokens[at] !== ']') {
      const name = token === '{' ? tokens[at++] ?? '' : null
      // Past the colon.
      if (name !== null) at += 1
      const found = value(depth + 1)
      if (found === null) return null
      members.push({ name, value: found })
      if (tokens[at] === ',') at += 1
    }
    at += 1
    return { kind: token === '{' ? 'object' : 'array', members }
  }
  return value(0)
}

/** The JSON indented by two, each value as it was written. Null: too deep. */
export function prettyJson(text: string): string | null {
  const parts = partsOfJson(text)
  return parts && written(parts, '')
}

function written(part: JsonPart, indent: string): string {
  if ('written' in part) return part.written
  const [open, close] = part.kind === 'object' ? '{}' : '[]'
  if (part.members.length === 0) return `${open}${close}`
  const lines = part.members.map(({ name, value }) => `${indent}  ${name === null ? '' : `${name}: `}${written(value, `${indent}  `)}`)
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`
}

/**
 * Text with everything that is not seen made visible: control characters, and those that turn the direction of reading or take no
 * room, by which text can be made to look like other text. Line ends stay when `lines` is true.
 */
export function visible(text: string, lines = false): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (sign) => lines && (sign === '\n' || sign === '\t') ? sign
    : `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`)
}

/** Bytes in rows of 16: offset, hex, and what is ASCII of it. */
export function hexRows(bytes: Buffer): string {
  return Array.from({ length: Math.ceil(bytes.length / 16) }, (_, row) => {
    const part = bytes.subarray(row * 16, row * 16 + 16)
    const hex = [...part].map((byte) => byte.toString(16).padStart(2, '0')).join(' ')
    return `${(row * 16).toString(16).padStart(4, '0')}  ${hex.padEnd(47)}  ${part.toString('latin1').replace(/[^ -~]/g, '.')}`
  }).join('\n')
}

/** The first and the last of a text with how much lies between, where it is long. */
export function shortened(text: string, first: number, last: number): { first: string, left: number, last: string } {
  if (text.length <= first + last) return { first: text, left: 0, last: '' }
  return { first: text.slice(0, first), left: text.length - first - last, last: text.slice(-last) }
}
