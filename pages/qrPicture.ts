import { toBuffer, toString } from 'qrcode'
import { Html } from './html.ts'

/** Quiet zone of four modules (ISO/IEC 18004), so that a phone finds the code on any ground. */
const margin = 4

/** A QR code as SVG, without styles. */
export async function qrPicture(content: string): Promise<Html> {
  return new Html(await toString(content, { type: 'svg', errorCorrectionLevel: 'M', margin }))
}

/** The same as PNG: phones keep it among their photos, from where a bank's app can read it. */
export function qrImage(content: string): Promise<Buffer> {
  return toBuffer(content, { type: 'png', errorCorrectionLevel: 'M', margin, width: 720 })
}
