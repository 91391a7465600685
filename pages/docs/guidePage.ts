import { html } from '../html.ts'
import type { Html } from '../html.ts'
import { docsLayout } from './docsLayout.ts'
import type { Guide } from './guides.ts'

/** A guide with its table of contents and the way to its neighbours. */
export function guidePage(guide: Guide, guides: readonly Guide[]): Html {
  const at = guides.indexOf(guide)
  const sections = guide.headings.filter(({ depth }) => depth === 2)
  const [before, after] = [guides[at - 1], guides[at + 1]]
  return docsLayout({
    title: guide.title, summary: guide.summary, path: `/docs/${guide.slug}`, guides, look: 'guide',
    content: html`<article>${guide.content}</article>
<nav class="neighbours" aria-label="Neighbouring guides">${before && html`<a rel="prev" href="/docs/${before.slug}"><span>Before</span>${before.title}</a>`}${after && html`<a rel="next" href="/docs/${after.slug}"><span>Next</span>${after.title}</a>`}</nav>`,
    aside: sections.length > 1 && html`<nav class="contents" aria-label="On this page"><h2>On this page</h2><ul>${sections.map(({ id, text }) => html`<li><a href="#${id}">${text}</a></li>`)}</ul></nav>`,
  })
}
