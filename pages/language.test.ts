import { expect, test } from 'vitest'
import { languageOf } from './language.ts'

test.each([
  [undefined, 'id'], ['', 'id'], ['*', 'id'], ['fr', 'id'], ['en', 'en'], ['en-US,en;q=0.9', 'en'], ['id-ID,id;q=0.9,en;q=0.8', 'id'],
  ['en;q=0.3, id;q=0.7', 'id'], ['EN-gb', 'en'], ['in', 'id'], ['en;q=0', 'id'], ['fr, en;q=0.5', 'en'], [';;;,,q=,', 'id'],
])('%j asks for %s', (header, language) => {
  expect(languageOf(header)).toBe(language)
})
