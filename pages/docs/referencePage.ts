import { html } from '../html.ts'
import type { Html } from '../html.ts'
import { redoc, referenceScript } from './docsAssets.ts'
import { docsLayout } from './docsLayout.ts'
import type { Guide } from './guides.ts'
import { references } from './references.ts'
import type { Reference } from './references.ts'

/** Redoc makes its styles and its search worker while it runs; nothing else is let in besides. */
export const referencePolicy = [
  'default-src \'none\'', 'style-src \'self\' \'unsafe-inline\'', 'script-src \'self\'', 'worker-src blob:', 'img-src \'self\' data:', 'connect-src \'self\'',
  'form-action \'none\'', 'base-uri \'none\'', 'frame-ancestors \'none\'',
].join('; ')

/** The files of a document that tools read. */
export const documentForms = [
  { suffix: '', name: 'OpenAPI 3.0.3', about: 'one file, for servers, validators and most generators' },
  { suffix: '.3.1', name: 'OpenAPI 3.1', about: 'with `webhooks`, for generators that type them' },
  { suffix: '.dereferenced', name: 'Dereferenced', about: 'OpenAPI 3.0.3 without references' },
] as const

/** Which documents there are, and where tools find them. */
export function referenceIndex(guides: readonly Guide[]): Html {
  return docsLayout({
    title: 'Reference', summary: 'The three OpenAPI documents, to read and for tools.', path: '/docs/reference', guides, look: 'guide',
    content: html`<article><h1>Reference</h1>
<p>Each service is defined by one OpenAPI document. The servers are made from these documents and checked against them, so they are exact.</p>
${references.map(({ about, name, service, version }) => html`<h2 id="${service}"><a href="/docs/reference/${service}">${name}</a></h2>
<p>${about} Version ${version}.</p>
<div class="table" tabindex="0" role="region" aria-label="Files of ${name}"><table><thead><tr><th>file</th><th>what for</th></tr></thead><tbody>${documentForms.map((form) =>
    html`<tr><td><a href="/docs/openapi/${service}${form.suffix}.json">${service}${form.suffix}.json</a></td><td>${form.name}: ${form.about.replaceAll('`', '')}</td></tr>`)}</tbody></table></div>`)}
</article>`,
  })
}

/** The reference of one document: Redoc, and without script the list of its operations. */
export function referencePage(reference: Reference, guides: readonly Guide[]): Html {
  const { groups, name, service } = reference
  return docsLayout({
    title: name, summary: reference.about, path: `/docs/reference/${service}`, guides, look: 'reference',
    head: html`<script src="${redoc.path}" defer></script>
<script src="${referenceScript.path}" defer></script>
`,
    content: html`<div id="reference" data-document="/docs/openapi/${service}.3.1.json"><article class="plain"><h1>${name}</h1>
<noscript><p>The reference needs JavaScript. Without it, here is every operation; the <a href="/docs/openapi/${service}.json">document</a> itself has the rest.</p></noscript>
${groups.map(({ operations, tag }) => html`<h2>${tag}</h2><ul>${operations.map(({ id, method, path, summary }) => html`<li><code>${method} ${path}</code> ${summary} (<code>${id}</code>)</li>`)}</ul>`)}
</article></div>`,
  })
}
