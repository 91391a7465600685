import type { Language } from './language.ts'
import { english } from './textsEnglish.ts'
import { indonesian } from './textsIndonesian.ts'
import type { Texts } from './textTypes.ts'

/** Every text of the pages, in each language. */
export const texts: Readonly<Record<Language, Texts>> = { id: indonesian, en: english }
