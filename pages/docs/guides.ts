import { readFileSync } from 'node:fs'
import { renderGuide } from './markdown.ts'
import type { RenderedGuide } from './markdown.ts'

export interface GuideGroup {
  title: string
  /** Names of files below docs/, without their ending. */
  guides: readonly string[]
}

/** The guides in the order of the navigation. A file that is not named here is not served. */
export const guideGroups: readonly GuideGroup[] = [
  { title: 'Start', guides: ['quickstart', 'payments', 'channels'] },
  { title: 'Build', guides: ['authentication', 'idempotency', 'errors', 'webhooks'] },
  { title: 'Try', guides: ['sandbox', 'simulator'] },
  { title: 'Launch', guides: ['going-live'] },
]

export interface Guide extends RenderedGuide {
  /** Its place below /docs. */
  slug: string
}

/** Every guide, rendered. Throws when a file is missing, has no title or links to a guide that is not served. */
export function readGuides(): readonly Guide[] {
  const slugs = guideGroups.flatMap(({ guides }) => guides)
  return slugs.map((slug) => ({
    slug, ...renderGuide(readFileSync(new URL(`../../docs/${slug}.md`, import.meta.url), 'utf8'), slug, slugs),
  }))
}
