import { expect, test } from 'vitest'
import { envelopeOf, pageOf } from './paging.ts'

test('a page is what its query asks for, from 1 and 20', () => {
  expect(pageOf({})).toEqual({ page: 1, limit: 20, offset: 0 })
  expect(pageOf({ page: 3, limit: 50 })).toEqual({ page: 3, limit: 50, offset: 100 })
})

test.each([[0, 20, 0], [1, 20, 1], [20, 20, 1], [21, 20, 2]])('%i rows at %i a page are %i pages', (total, limit, pages) => {
  expect(envelopeOf(total, { page: 1, limit, offset: 0 })).toEqual({ total, page: 1, limit, total_pages: pages })
})
