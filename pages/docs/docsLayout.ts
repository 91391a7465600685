import { html } from '../html.ts'
import type { Html, Part } from '../html.ts'
import { icon, script, stylesheet } from './docsAssets.ts'
import { guideGroups } from './guides.ts'
import type { Guide } from './guides.ts'
import { references } from './references.ts'

export interface DocsPageOptions {
  /** Of the document; null: the landing page's. */
  title: string | null
  summary: string
  /** Address of this page, to mark it in the navigation. */
  path: string
  guides: readonly Guide[]
  content: Part
  /** Beside the content. */
  aside?: Part
  /** Further elements of the head. */
  head?: Part
  /** For the looks of a kind of page. */
  look: 'landing' | 'guide' | 'reference'
}

/** A page of the documentation: the bar, the navigation, the content. */
export function docsLayout({ aside, content, guides, head, look, path, summary, title }: DocsPageOptions): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${summary}">
<title>${title === null ? 'Bayar documentation' : `${title} · Bayar`}</title>
<link rel="icon" href="${icon.path}">
<link rel="stylesheet" href="${stylesheet.path}">
<script src="${script.path}" defer></script>
${head}</head>
<body class="${look}">
<a class="skip" href="#content">Skip to the content</a>
<header class="bar">
<a class="brand" href="/docs"><span class="mark" aria-hidden="true">B</span>Bayar</a>
<nav aria-label="Main"><a href="/docs/quickstart"${current(path === '/docs/quickstart')}>Quickstart</a><a href="/docs/webhooks"${current(path === '/docs/webhooks')}>Webhooks</a><a href="/docs/errors"${current(path === '/docs/errors')}>Errors</a><a href="/docs/reference"${current(path.startsWith('/docs/reference'))}>Reference</a></nav>
</header>
<div class="columns">
${look !== 'reference' && sidebar(guides, path)}
<main id="content" tabindex="-1">${content}</main>
${aside}
</div>
</body>
</html>
`
}

function current(isHere: boolean): Part {
  return isHere && html` aria-current="page"`
}

function sidebar(guides: readonly Guide[], path: string): Html {
  const link = (address: string, name: string): Html => html`<li><a href="${address}"${current(address === path)}>${name}</a></li>`
  const groups = html`${guideGroups.map((group) => html`<h2>${group.title}</h2><ul>${group.guides.map((slug) => link(`/docs/${slug}`, guides.find((guide) => guide.slug === slug)?.title ?? slug))}</ul>`)}
<h2>Reference</h2><ul>${references.map(({ name, service }) => link(`/docs/reference/${service}`, name))}</ul>`
  return html`<nav class="side" aria-label="Guides"><details><summary>All guides</summary>${groups}</details><div class="wide">${groups}</div></nav>`
}
