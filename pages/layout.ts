import { accentPath, script, stylesheet } from './assetFiles.ts'
import { html } from './html.ts'
import type { Html, Part } from './html.ts'
import { icon } from './icons.ts'
import { otherLanguage } from './language.ts'
import type { Language } from './language.ts'
import type { Checkout } from './publicCheckout.ts'
import { texts } from './texts.ts'

/** What every page says around its content. */
export interface Frame {
  language: Language
  /** Path and query of the page, for the way to the other language; null: the address is none of ours. */
  here: string | null
  /** Path of the merchant's logo, when there is one to show. */
  logoPath: string | null
}

export interface LayoutOptions {
  frame: Frame
  /** Who is paid; null on pages of nobody. */
  checkout: Checkout | null
  /** Where a script asks how the payment stands, and what it knows already; null on pages that never change. */
  live: { url: string, statusUrl: string, status: string, attemptId: string | undefined, attemptStatus: string | undefined } | null
  /** What is told to who does not see the page when it has changed to this. */
  announces: string
  /** `split`: two columns where there is room. */
  shape: 'split' | 'single'
  content: Part
}

/** A whole document around the content. */
export function layout({ announces, checkout, content, frame, live, shape }: LayoutOptions): Html {
  const { language } = frame
  const say = texts[language]
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${checkout === null ? say.documentTitle : `${checkout.brand.display_name} · ${say.documentTitle}`}</title>
<link rel="stylesheet" href="${accentPath(checkout?.brand.accent_hex ?? '')}">
<link rel="stylesheet" href="${stylesheet.path}">
<script src="${script.path}"></script>
</head>
<body>
<p class="unseen" role="status" id="announcement"></p>
<div class="page ${shape}" id="page" data-announces="${announces}"${live && html` data-url="${live.url}" data-status-url="${live.statusUrl}" data-status="${live.status}" data-attempt-id="${live.attemptId}" data-attempt-status="${live.attemptStatus}"`}>
<header>${checkout?.environment === 'sandbox' && html`<p class="strip">${say.sandbox}</p>`}
<div class="top">${checkout && brand(checkout, frame)}${languageLink(frame)}</div></header>
<main>
${content}
</main>
<footer>${icon('lock')}<span>${say.footer}</span></footer>
</div>
</body>
</html>
`
}

function brand({ brand: { display_name } }: Checkout, { logoPath }: Frame): Html {
  const [initial = '?'] = display_name.trim()
  const picture = logoPath === null
    ? html`<span class="monogram" aria-hidden="true">${initial.toLocaleUpperCase('id-ID')}</span>`
    : html`<img class="logo" src="${logoPath}" alt="" width="40" height="40">`
  return html`<div class="brand">${picture}<h1><bdi>${display_name}</bdi></h1></div>`
}

function languageLink({ here, language }: Frame): Part {
  if (here === null) return null
  const other = otherLanguage(language)
  const address = `${here}${here.includes('?') ? '&' : '?'}lang=${other}`
  return html`<a class="language" href="${address}" lang="${other}" hreflang="${other}" rel="alternate nofollow" data-keep="language">${texts[language].otherLanguage}</a>`
}
