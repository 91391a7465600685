import bwip from 'bwip-js/node'
import { Html, html } from './html.ts'

/** Quiet zone of ten modules at each side (ISO/IEC 15417, 4.2). */
const quiet = 10
/** Units high; the picture is stretched to its place, which does the bars no harm. */
const height = 40

/**
 * Code 128 of the text as SVG, without styles; null for what Code 128 cannot say. A bar is as many units wide as it has
 * modules, so the picture is sharp at any size.
 */
export function barcode(text: string, label: string): Html | null {
  if (!/^[\x20-\x7e]{1,48}$/.test(text)) return null
  const [symbol] = bwip.raw({ bcid: 'code128', text })
  if (!symbol || !('sbs' in symbol)) return null
  const widths = symbol.sbs
  let at = quiet
  let path = ''
  widths.forEach((width, place) => {
    if (place % 2 === 0) path += `M${at} 0h${width}v${height}h-${width}z`
    at += width
  })
  const { markup } = html`<svg role="img" aria-label="${label}" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${at + quiet} ${height}" preserveAspectRatio="none" shape-rendering="crispEdges"><path fill="#000" d="${path}"/></svg>`
  return new Html(markup)
}
