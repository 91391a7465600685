import type { ChannelDisplays } from './channelDisplay.ts'
import { assetPath } from './assetFiles.ts'
import { html } from './html.ts'
import type { Html, Part } from './html.ts'
import { icon, isIconName } from './icons.ts'
import type { Language } from './language.ts'
import type { Checkout } from './publicCheckout.ts'
import { texts } from './texts.ts'

type Offered = Checkout['channels'][number]

/** The channels by kind, each a form of its own, so that no script is needed. */
export function channelList(channels: readonly Offered[], action: string, displays: ChannelDisplays, language: Language): Html {
  const { kinds } = texts[language]
  return html`<div class="kinds">${[...Map.groupBy(channels, ({ kind }) => kind)].map(([kind, ofKind]) => html`<div class="kind"><h3>${kinds[kind] ?? kind}</h3>
<div class="choices">${ofKind.map((channel) => html`<form method="post" action="${action}"><button class="choice" name="channel" value="${channel.code}">${picture(channel, displays)}<span>${nameOf(channel, displays, language)}</span></button></form>`)}</div></div>`)}</div>`
}

/** A button that chooses one channel, as a page's one way on. */
export function channelAgain(channel: Offered, action: string, displays: ChannelDisplays, language: Language): Html {
  return html`<form method="post" action="${action}"><button name="channel" value="${channel.code}"><span>${texts[language].tryAgain} ${nameOf(channel, displays, language)}</span></button></form>`
}

/** What payers know the channel by; its code where nothing else is known. */
export function channelName({ channels }: Checkout, code: string, kind: string, displays: ChannelDisplays, language: Language): string {
  const found = channels.find((channel) => channel.code === code)
  return found ? nameOf(found, displays, language) : displays.get(code)?.name?.[language] ?? texts[language].kinds[kind] ?? code
}

/** The channel's own picture, or one of its kind. */
export function picture({ code, kind }: Pick<Offered, 'code' | 'kind'>, displays: ChannelDisplays): Part {
  const logo = displays.get(code)?.logo
  if (logo) return html`<img class="tile" src="${assetPath(logo.name)}" alt="" width="32" height="32">`
  return html`<span class="tile">${icon(isIconName(kind) ? kind : 'unknown')}</span>`
}

function nameOf({ code, name_en, name_id }: Offered, displays: ChannelDisplays, language: Language): string {
  return displays.get(code)?.name?.[language] ?? (language === 'id' ? name_id : name_en)
}
