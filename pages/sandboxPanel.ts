import { html } from './html.ts'
import type { Html, Part } from './html.ts'
import type { Language } from './language.ts'
import type { Attempt } from './publicCheckout.ts'
import { texts } from './texts.ts'

/** What only a sandbox has; apart from the page's own parts, so that nobody takes it for one. */
export function panelAround(language: Language, explains: string, content: Part): Html {
  const { panel } = texts[language]
  return html`<aside class="panel" aria-labelledby="panel"><h2 id="panel">${panel.title}</h2><p class="soft">${explains}</p>${content}</aside>`
}

/** Moves the attempt as its payer, its provider or the time would. A card's payer answers the challenge instead. */
export function sandboxPanel(action: string, { id, challenge_url, kind }: Attempt, language: Language, challengeAddress: string | null): Html {
  const { panel: say } = texts[language]
  const button = (move: string, name: string) => html`<button class="plain" name="move" value="${move}">${name}</button>`
  const isCard = challenge_url !== undefined
  return panelAround(language, say.text, html`<form method="post" action="${action}"><input type="hidden" name="attempt" value="${id}">
<div class="moves">${!isCard && button('complete', say.complete)}${isCard && challengeAddress !== null && html`<a class="button plain" href="${challengeAddress}">${say.verify}</a>`}${kind !== 'cash' && [!isCard && button('decline', say.decline), button('late', say.late), button('expire', say.expire)]}</div></form>`)
}
