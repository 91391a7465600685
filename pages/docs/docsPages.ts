import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { html } from '../html.ts'
import type { Html } from '../html.ts'
import { send, sendPage } from '../sendPage.ts'
import { docsAsset } from './docsAssets.ts'
import { docsLayout } from './docsLayout.ts'
import { guidePage } from './guidePage.ts'
import { readGuides } from './guides.ts'
import { landingPage } from './landingPage.ts'
import { documentForms, referenceIndex, referencePage, referencePolicy } from './referencePage.ts'
import { references } from './references.ts'
import { Representation } from './representation.ts'

interface Served {
  representation: Representation
  headers?: Record<string, string>
}

const immutable = { 'Cache-Control': 'public, max-age=31536000, immutable' }
/** Tools in a browser may read the documents. */
const readableByAll = { 'Access-Control-Allow-Origin': '*', 'Cross-Origin-Resource-Policy': 'cross-origin' }

/** Everything below /docs by its address; rendered when the first visitor comes, and kept. */
function renderAll(): { pages: ReadonlyMap<string, Served>, missing: Html } {
  const guides = readGuides()
  const page = (markup: Html): Representation => new Representation('text/html; charset=utf-8', markup.markup)
  const pages = new Map<string, Served>([
    ['/docs', { representation: page(landingPage(guides)) }],
    ['/docs/reference', { representation: page(referenceIndex(guides)) }],
    ...guides.map((guide) => [`/docs/${guide.slug}`, { representation: page(guidePage(guide, guides)) }] as const),
    ...references.map((reference) => [
      `/docs/reference/${reference.service}`, { representation: page(referencePage(reference, guides)), headers: { 'Content-Security-Policy': referencePolicy } },
    ] as const),
    ...references.flatMap(({ service }) => documentForms.map(({ suffix }) => [`/docs/openapi/${service}${suffix}.json`, {
      representation: new Representation('application/json', readFileSync(new URL(`../../generated/${service}${suffix}.json`, import.meta.url))), headers: readableByAll,
    }] as const)),
  ])
  const missing = docsLayout({
    title: 'Not found', summary: 'There is no such page.', path: '', guides, look: 'guide',
    content: html`<article><h1>There is no such page</h1><p>It may have moved. Begin at the <a href="/docs">start</a>, or look into the <a href="/docs/reference">reference</a>.</p></article>`,
  })
  return { pages, missing }
}

let rendered: ReturnType<typeof renderAll> | undefined

/** Answers a request for the documentation. False, and nothing done, when the path is none of its. */
export async function answerDocs(request: IncomingMessage, response: ServerResponse, path: string): Promise<boolean> {
  if (path !== '/docs' && !path.startsWith('/docs/')) return false
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    send(response, 405, '', { Allow: 'GET, HEAD' })
    return true
  }
  const asset = docsAsset(path)
  if (asset) {
    await asset.representation.send(response, immutable)
    return true
  }
  const { missing, pages } = rendered ??= renderAll()
  const served = pages.get(path)
  if (served) await served.representation.send(response, served.headers)
  else if (pages.has(path.replace(/\/+$/, ''))) send(response, 308, '', { Location: path.replace(/\/+$/, '') })
  else sendPage(response, 404, missing)
  return true
}
