import { accentPath, script, stylesheet } from './assetFiles.ts'
import { html } from './html.ts'
import type { Html, Part } from './html.ts'
import type { Language } from './language.ts'
import type { Checkout } from './publicCheckout.ts'
import { texts } from './texts.ts'

export interface LayoutOptions {
  language: Language
  /** Part of the title before the page's own name; the merchant's, usually. */
  title: string | null
  accentHex: string
  content: Part
}

/** A whole document around the content. */
export function layout({ language, title, accentHex, content }: LayoutOptions): Html {
  const name = texts[language].documentTitle
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title === null ? name : `${title} · ${name}`}</title>
<link rel="stylesheet" href="${accentPath(accentHex)}">
<link rel="stylesheet" href="${stylesheet.path}">
<script src="${script.path}" defer></script>
</head>
<body>
${content}
</body>
</html>
`
}

/** Who is paid: the brand above, the merchant beneath where it has another name. */
export function brandHeader({ brand, merchant }: Checkout, language: Language): Html {
  const [initial = '?'] = brand.display_name.trim()
  return html`<header class="brand">
<span class="monogram" aria-hidden="true">${initial.toLocaleUpperCase('id-ID')}</span>
<div><h1><bdi>${brand.display_name}</bdi></h1>${merchant.name !== brand.display_name && html`<p class="soft small">${texts[language].payTo} <bdi>${merchant.name}</bdi></p>`}</div>
</header>`
}

/** A page that has nothing to show but a few words. */
export function messagePage(language: Language, { title, text }: { title: string, text: string }): Html {
  return layout({
    language, title: null, accentHex: '',
    content: html`<main class="alone"><section class="card"><h1>${title}</h1><p class="soft">${text}</p></section></main>`,
  })
}
