/** Languages of the pages; the first is what a payer gets who asks for neither. */
export type Language = 'id' | 'en'

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
