import { readFileSync } from 'node:fs'

/** A program of the documentation that verifies a delivery. */
export interface Snippet {
  name: string
  language: string
  text: string
}

const folder = new URL('../../docs/snippets/webhooks/', import.meta.url)
const files = [
  ['node', 'Node', 'verify.mjs'], ['python', 'Python', 'verify.py'], ['php', 'PHP', 'verify.php'], ['go', 'Go', 'verify.go'], ['java', 'Java', 'Verify.java'],
] as const

/** The documentation's own programs, as they are there. */
export const snippets: readonly Snippet[] = files.map(([name, language, file]) =>
  ({ name, language, text: readFileSync(new URL(`${name}/${file}`, folder), 'utf8') }))
