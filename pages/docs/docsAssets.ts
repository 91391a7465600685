import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Representation } from './representation.ts'

/** A file that pages ask for by an address that changes with its content, so that it is kept for ever. */
export interface DocsAsset {
  path: string
  representation: Representation
}

const folder = '/docs/assets/'
const types = { css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8', svg: 'image/svg+xml' } as const

function asset(name: string, kind: keyof typeof types, body: Buffer | string): DocsAsset {
  const representation = new Representation(types[kind], body)
  return { path: `${folder}${name}-${representation.version}.${kind}`, representation }
}

function own(name: string, kind: keyof typeof types): DocsAsset {
  return asset(name, kind, readFileSync(new URL(`./assets/${name}.${kind}`, import.meta.url)))
}

/** The mark beside Redoc's link would come from its makers' host: nothing here comes from another. */
const foreignMark = 'https://cdn.redoc.ly/redoc/logo-mini.svg'
const ownMark = 'data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22/%3E'

function redocBundle(): string {
  const text = readFileSync(fileURLToPath(import.meta.resolve('redoc/bundles/redoc.standalone.js')), 'utf8')
  if (!text.includes(foreignMark)) throw new Error('Redoc has changed: look again at what it loads from other hosts')
  return text.replaceAll(foreignMark, ownMark)
}

export const icon = own('mark', 'svg')
export const stylesheet = own('docs', 'css')
export const script = own('docs', 'js')
/** Starts Redoc on the element that says which document. */
export const referenceScript = own('reference', 'js')
export const redoc = asset('redoc', 'js', redocBundle())

/** The file behind an address. */
export function docsAsset(path: string): DocsAsset | undefined {
  return [icon, stylesheet, script, referenceScript, redoc].find((one) => one.path === path)
}
