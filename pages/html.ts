/** Markup that is safe to send: whatever came in as text was escaped. */
export class Html {
  readonly markup: string
  constructor(markup: string) {
    this.markup = markup
  }
}

/** What a template takes: text is escaped, markup stays, null, undefined and false leave nothing. */
export type Part = Html | string | number | null | undefined | false | readonly Part[]

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\'': '&#39;', '`': '&#96;' }

/**
 * Markup by construction: every value is escaped, so that text of a merchant or provider cannot become markup.
 * Attribute values must stand in quotes; a value as a tag's or attribute's name, or in a script, is not provided for.
 */
export function html(template: TemplateStringsArray, ...values: readonly Part[]): Html {
  return new Html(String.raw({ raw: template }, ...values.map(markupOf)))
}

function markupOf(part: Part): string {
  if (part === null || part === undefined || part === false) return ''
  if (part instanceof Html) return part.markup
  if (typeof part === 'object') return part.map(markupOf).join('')
  return String(part).replace(/[&<>"'`]/g, (sign) => entities[sign] ?? '')
}

const dangerous = ['javascript', 'data', 'vbscript', 'file', 'blob', 'about']

/** An address that a link may have: http, https or an app's scheme; null for what a browser would run or read. */
export function linkTo(address: string): string | null {
  if (!URL.canParse(address)) return null
  const { href, protocol } = new URL(address)
  return dangerous.includes(protocol.slice(0, -1)) ? null : href
}
