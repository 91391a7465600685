import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
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

/** Address of the stylesheet of an accent colour: style attributes are not allowed. Anything but `#RRGGBB` is neutral. */
export function accentPath(accentHex: string): string {
  const [, hex = '334155'] = /^#([0-9a-f]{6})$/i.exec(accentHex) ?? []
  return `${folder}accent-${hex.toLowerCase()}.css`
}

/** Answers a request for one of the files. False when the path is none of them. */
export function sendAsset(path: string, response: ServerResponse): boolean {
  const found = [stylesheet, script].find((one) => one.path === path) ?? accentAsset(path)
  if (!found) return false
  send(response, 200, found.body, { 'Content-Type': found.type, 'Cache-Control': 'public, max-age=31536000, immutable' })
  return true
}

function accentAsset(path: string): Asset | undefined {
  const hex = new RegExp(`^${folder}accent-([0-9a-f]{6})\\.css$`).exec(path)?.[1]
  if (hex === undefined) return undefined
  return { path, type: types.css, body: Buffer.from(`:root { --accent: #${hex}; --on-accent: ${readableOn(hex)} }\n`) }
}

/** Black or white, whichever has the higher contrast on the colour (WCAG 2.2, relative luminance). */
function readableOn(hex: string): string {
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
  return 1.05 / (luminance + 0.05) >= (luminance + 0.05) / 0.05 ? '#fff' : '#000'
}
