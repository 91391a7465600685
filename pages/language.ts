/** Languages of the pages; the first is what a payer gets who asks for neither. */
export type Language = 'id' | 'en'

const cookieName = 'bayar_language'
const yearSeconds = 31_536_000

/** The language that an Accept-Language header (RFC 9110, section 12.5.4) prefers among ours. */
export function languageOf(header: string | undefined): Language {
  let best: { language: Language, weight: number } | undefined
  for (const entry of (header ?? '').split(',')) {
    const [range = '', ...parameters] = entry.trim().toLowerCase().split(';')
    const quality = parameters.map((parameter) => /^\s*q=([\d.]+)\s*$/.exec(parameter)?.[1]).find((value) => value !== undefined)
    const weight = quality === undefined ? 1 : Number(quality)
    // `in` is what old systems call Indonesian.
    const primary = range.trim().split('-')[0]
    const language = primary === 'id' || primary === 'in' ? 'id' : primary === 'en' ? 'en' : undefined
    if (language && weight > (best?.weight ?? 0)) best = { language, weight }
  }
  return best?.language ?? 'id'
}

/** The value of `lang` in an address, or of the cookie that keeps it, as a language of ours. */
export function asLanguage(value: string | null | undefined): Language | null {
  return value === 'id' || value === 'en' ? value : null
}

/** The language that a Cookie header keeps. */
export function keptLanguage(header: string | undefined): Language | null {
  return asLanguage((header ?? '').split(';').map((pair) => pair.trim().split('=')).find(([name]) => name === cookieName)?.[1])
}

/** The Set-Cookie header that keeps a language for a year: two letters, of no person, for these pages alone. */
export function keepLanguage(language: Language, httpsOnly: boolean): string {
  return `${cookieName}=${language}; Path=/pay; Max-Age=${yearSeconds}; SameSite=Lax; HttpOnly${httpsOnly ? '; Secure' : ''}`
}

/** The other of the two. */
export function otherLanguage(language: Language): Language {
  return language === 'id' ? 'en' : 'id'
}
