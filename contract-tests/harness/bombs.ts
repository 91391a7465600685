import { once } from 'node:events'
import { constants, createBrotliCompress, gzipSync } from 'node:zlib'

const partBytes = 16_000_000
const parts = 640

/** What the bombs expand to: 10.24 GB. */
export const expandedBytes = partBytes * parts

/** `times` parts of zeros as gzip: a gzip file may consist of many. */
export function gzipBomb(times = parts): Buffer {
  const member = gzipSync(Buffer.alloc(partBytes), { level: 9 })
  return Buffer.concat(Array.from({ length: times }, () => member))
}

/** The same as Brotli: after a flush a part of zeros is the same bytes each time, so it is repeated instead of compressed. */
export async function brotliBomb(times = parts): Promise<Buffer> {
  const compressor = createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })
  const pieces: Buffer[] = []
  compressor.on('data', (piece: Buffer) => pieces.push(piece))
  const part = async (): Promise<Buffer> => {
    await new Promise<void>((resolve) => compressor.write(Buffer.alloc(partBytes), () => resolve()))
    await new Promise<void>((resolve) => compressor.flush(constants.BROTLI_OPERATION_FLUSH, () => resolve()))
    // What was flushed is told in the next turn.
    await new Promise((resolve) => setImmediate(resolve))
    return Buffer.concat(pieces.splice(0))
  }
  const [first, second] = [await part(), await part()]
  compressor.end()
  await once(compressor, 'end')
  return Buffer.concat([first, ...Array.from({ length: times - 1 }, () => second), ...pieces])
}
