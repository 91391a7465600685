import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { accentColours } from './accent.ts'
import type { ChannelDisplays } from './channelDisplay.ts'
import { send } from './sendPage.ts'

const folder = '/pay/assets/'
const types = { css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8' } as const

interface Asset {
  path: string
  type: string
  body: Buffer
}

function asset(name: string, kind: keyof typeof types): Asset {
  const body = readFileSync(new URL(`./assets/${name}.${kind}`, import.meta.url))
  const version = createHash('sha256').update(body).digest('hex').slice(0, 12)
  return { path: `${folder}${name}-${version}.${kind}`, type: types[kind], body }
}

/** The pages' own files; the name changes with the content, so that they are kept for ever. */
export const stylesheet = asset('checkout', 'css')
export const script = asset('checkout', 'js')

/** Address of a file of that name. */
export function assetPath(name: string): string {
  return folder + name
}

/** Address of the stylesheet of an accent colour: style attributes are not allowed. Anything but `#RRGGBB` is neutral. */
export function accentPath(accentHex: string): string {
  const [, hex = '334155'] = /^#([0-9a-f]{6})$/i.exec(accentHex) ?? []
  return `${folder}accent-${hex.toLowerCase()}.css`
}

/** Answers a request for one of the files. False when the path is none of them. */
export function sendAsset(path: string, response: ServerResponse, displays: ChannelDisplays): boolean {
  const found = [stylesheet, script].find((one) => one.path === path) ?? accentAsset(path) ?? logoAsset(path, displays)
  if (!found) return false
  send(response, 200, found.body, { 'Content-Type': found.type, 'Cache-Control': 'public, max-age=31536000, immutable' })
  return true
}

function logoAsset(path: string, displays: ChannelDisplays): Asset | undefined {
  for (const { logo } of displays.values()) if (logo && assetPath(logo.name) === path) return { path, type: logo.type, body: logo.body }
  return undefined
}

function accentAsset(path: string): Asset | undefined {
  const hex = new RegExp(`^${folder}accent-([0-9a-f]{6})\\.css$`).exec(path)?.[1]
  if (hex === undefined) return undefined
  const { accent, ink, on } = accentColours(`#${hex}`)
  const light = `:root { --accent: ${accent}; --on-accent: ${on}; --accent-ink: ${ink.light} }\n`
  return { path, type: types.css, body: Buffer.from(`${light}@media screen and (prefers-color-scheme: dark) { :root { --accent-ink: ${ink.dark} } }\n`) }
}
