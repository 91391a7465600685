/** Which part of a list is asked for. */
export interface Page {
  page: number
  limit: number
  /** Rows before the page. */
  offset: number
}

/** Largest `page` times `limit`: deeper pages cost the server a read of everything before them (decision 1.5). */
export const deepestRow = 1_000_000

/** The page that a list query asks for. The query is validated and clamped, and a page too deep refused, before. */
export function pageOf({ page = 1, limit = 20 }: { page?: number, limit?: number }): Page {
  return { page, limit, offset: (page - 1) * limit }
}

/** The members of every list envelope beside the resource (brief, payments: List envelope). */
export function envelopeOf(total: number, { page, limit }: Page): { total: number, page: number, limit: number, total_pages: number } {
  return { total, page, limit, total_pages: Math.ceil(total / limit) }
}
