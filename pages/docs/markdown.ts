import { Marked } from 'marked'
import type { Tokens } from 'marked'
import { Html, html } from '../html.ts'

export interface Heading {
  id: string
  depth: number
  text: string
}

export interface RenderedGuide {
  title: string
  /** The first paragraph as plain text, for descriptions. */
  summary: string
  headings: readonly Heading[]
  content: Html
}

/**
 * A guide as markup. HTML in it is shown as text, but for comments, which are left out; links to other guides become links
 * to their pages. Throws when the guide has no title or links to a guide that is not in `slugs`.
 */
export function renderGuide(markdown: string, slug: string, slugs: readonly string[]): RenderedGuide {
  const headings: Heading[] = []
  const used = new Map<string, number>()
  const tableNames = new Map<string, number>()
  const marked = new Marked({
    renderer: {
      heading({ depth, tokens }) {
        const text = plainText(tokens)
        const id = uniqueId(text, used)
        headings.push({ id, depth, text })
        const inner = new Html(this.parser.parseInline(tokens))
        return html`<h${depth} id="${id}">${inner}${depth > 1 && html` <a class="anchor" href="#${id}" aria-label="Link to ${text}">#</a>`}</h${depth}>\n`.markup
      },
      code({ lang, text }) {
        const label = lang === undefined || lang === '' ? 'Text' : lang
        return html`<div class="code"><pre tabindex="0" aria-label="${label}"><code>${text}</code></pre><button type="button" data-copy-code hidden>Copy</button></div>\n`.markup
      },
      table(token) {
        const cell = ({ tokens }: Tokens.TableCell, tag: 'td' | 'th') => new Html(`<${tag}>${this.parser.parseInline(tokens)}</${tag}>`)
        // A head without words heads nothing.
        const heads = token.header.some(({ text }) => text !== '') && html`<thead><tr>${token.header.map((head) => cell(head, head.text === '' ? 'td' : 'th'))}</tr></thead>`
        // A place that scrolls is reached by keyboard, and so has a name of its own.
        const about = headings.at(-1)?.text ?? ''
        const count = (tableNames.get(about) ?? 0) + 1
        tableNames.set(about, count)
        return html`<div class="table" tabindex="0" role="region" aria-label="Table ${count} of: ${about}"><table>${heads}<tbody>${token.rows.map((cells) => html`<tr>${cells.map((one) => cell(one, 'td'))}</tr>`)}</tbody></table></div>\n`.markup
      },
      link({ href, tokens }) {
        const inner = new Html(this.parser.parseInline(tokens))
        // Files beside the guides are in the repository, not on the site.
        return href.startsWith('../') ? inner.markup : html`<a href="${addressOf(href, slug, slugs)}">${inner}</a>`.markup
      },
      checkbox({ checked }) {
        return html`<span class="box" aria-hidden="true">${checked ? '☑' : '☐'}</span> `.markup
      },
      html({ text }) {
        return /^\s*<!--[^]*-->\s*$/.test(text) ? '' : html`${text}`.markup
      },
      image({ text }) {
        throw new Error(`docs/${slug}.md shows the picture "${text}": guides have none`)
      },
    },
  })
  const tokens = marked.lexer(markdown)
  const content = new Html(marked.parser(tokens))
  const title = headings.find(({ depth }) => depth === 1)?.text
  if (title === undefined) throw new Error(`docs/${slug}.md has no title`)
  const first = tokens.find((token): token is Tokens.Paragraph => token.type === 'paragraph')
  return { title, summary: plainText(first?.tokens ?? []), headings, content }
}

function plainText(tokens: readonly { type: string, raw: string, text?: string, tokens?: readonly unknown[] }[]): string {
  return tokens.map((token) => token.tokens ? plainText(token.tokens as typeof tokens) : token.text ?? token.raw).join('').replace(/\s+/g, ' ').trim()
}

/** The id that source hosts give a heading too, so that links work in both places. */
function uniqueId(text: string, used: Map<string, number>): string {
  const id = text.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-')
  const before = used.get(id) ?? 0
  used.set(id, before + 1)
  return before === 0 ? id : `${id}-${before}`
}

function addressOf(href: string, slug: string, slugs: readonly string[]): string {
  if (href.startsWith('#') || href.startsWith('/') || /^https?:\/\//.test(href)) return href
  const [, guide, fragment = ''] = /^([a-z-]+)\.md(#.+)?$/.exec(href) ?? []
  if (guide === undefined || !slugs.includes(guide)) throw new Error(`docs/${slug}.md links to ${href}, which is no guide`)
  return `/docs/${guide}${fragment}`
}
