/** More than any logo needs; a few bytes can claim a picture that fills a phone's memory. */
const widest = 2048

/** The media type of a PNG, JPEG or WebP picture by its own first bytes; null for anything else, and for what is wider or higher than 2048. */
export function imageTypeOf(body: Buffer): string | null {
  const found = png(body) ?? jpeg(body) ?? webp(body)
  if (!found) return null
  const { height, type, width } = found
  return width >= 1 && height >= 1 && width <= widest && height <= widest ? type : null
}

interface Picture {
  type: string
  width: number
  height: number
}

/** PNG, third edition, 5.2 and 11.2.1: the signature, then IHDR. */
function png(body: Buffer): Picture | null {
  if (body.length < 24 || body.toString('latin1', 0, 8) !== '\x89PNG\r\n\x1a\n' || body.toString('latin1', 12, 16) !== 'IHDR') return null
  return { type: 'image/png', width: body.readUInt32BE(16), height: body.readUInt32BE(20) }
}

/** ITU-T T.81, B.2.2: the first frame header. */
function jpeg(body: Buffer): Picture | null {
  if (body.length < 4 || body.readUInt16BE(0) !== 0xffd8) return null
  for (let at = 2; at + 9 <= body.length && body[at] === 0xff;) {
    const marker = body[at + 1] ?? 0
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) {
      return { type: 'image/jpeg', width: body.readUInt16BE(at + 7), height: body.readUInt16BE(at + 5) }
    }
    at += 2 + body.readUInt16BE(at + 2)
  }
  return null
}

/** RFC 9649, 2.5 to 2.7: lossy, lossless, extended. */
function webp(body: Buffer): Picture | null {
  if (body.length < 30 || body.toString('latin1', 0, 4) !== 'RIFF' || body.toString('latin1', 8, 12) !== 'WEBP') return null
  const type = 'image/webp'
  switch (body.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return { type, width: body.readUInt16LE(26) & 0x3fff, height: body.readUInt16LE(28) & 0x3fff }
    case 'VP8L': {
      const bits = body.readUInt32LE(21)
      return { type, width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 }
    }
    case 'VP8X':
      return { type, width: body.readUIntLE(24, 3) + 1, height: body.readUIntLE(27, 3) + 1 }
    default:
      return null
  }
}
