import { expect, test } from 'vitest'
import { barcode } from './barcode.ts'

/** The 107 symbol characters of Code 128 by the widths of their bars and spaces (ISO/IEC 15417, table 1). */
const patterns = [
  '212222', '222122', '222221', '121223', '121322', '131222', '122213', '122312', '132212', '221213', '221312', '231212', '112232', '122132', '122231', '113222', '123122', '123221',
  '223211', '221132', '221231', '213212', '223112', '312131', '311222', '321122', '321221', '312212', '322112', '322211', '212123', '212321', '232121', '111323', '131123', '131321',
  '112313', '132113', '132311', '211313', '231113', '231311', '112133', '112331', '132131', '113123', '113321', '133121', '313121', '211331', '231131', '213113', '213311', '213131',
  '311123', '311321', '331121', '312113', '312311', '332111', '314111', '221411', '431111', '111224', '111422', '121124', '121421', '141122', '141221', '112214', '112412', '122114',
  '122411', '142112', '142211', '241211', '221114', '413111', '241112', '134111', '111242', '121142', '121241', '114212', '124112', '124211', '411212', '421112', '421211', '212141',
  '214121', '412121', '111143', '111341', '131141', '114113', '114311', '411113', '411311', '113141', '114131', '311141', '411131', '211412', '211214', '211232', '2331112',
]
const [codeC, codeB, codeA, startA, startB, startC, stop] = [99, 100, 101, 103, 104, 105, 106] as const

interface Bar {
  at: number
  width: number
}

/** Reads a picture as a scanner does: widths of bars and spaces along one line, then the standard's table. */
const scanned = (markup: string) => {
  const bars: Bar[] = [...markup.matchAll(/M(\d+) 0h(\d+)v40h-(\d+)z/g)].map(([, at, width]) => ({ at: Number(at), width: Number(width) }))
  const wide = Number(/viewBox="0 0 (\d+) 40"/.exec(markup)?.[1])
  const widths = bars.flatMap(({ at, width }, place) => {
    const next = bars[place + 1]
    return next ? [width, next.at - at - width] : [width]
  })
  const symbols: number[] = []
  for (let at = 0; at < widths.length;) {
    const length = widths.length - at === 7 ? 7 : 6
    symbols.push(patterns.indexOf(widths.slice(at, at + length).join('')))
    at += length
  }
  const [first, last] = [bars[0], bars.at(-1)]
  return { symbols, quiet: [first?.at, wide - (last ? last.at + last.width : 0)] }
}

const decoded = (markup: string): string => {
  const { symbols } = scanned(markup)
  expect(symbols).not.toContain(-1)
  expect(symbols.at(-1)).toBe(stop)
  const [start = -1, ...data] = symbols.slice(0, -2)
  expect(symbols.at(-2)).toBe((start + data.reduce((sum, value, at) => sum + value * (at + 1), 0)) % 103)
  let set = start === startC ? codeC : start === startB ? codeB : codeA
  expect([startA, startB, startC]).toContain(start)
  return data.map((value) => {
    if (value >= 99 && value <= 101 && value !== set) {
      set = value as typeof set
      return ''
    }
    return set === codeC ? String(value).padStart(2, '0') : String.fromCharCode(value + 32)
  }).join('')
}

test.each(['77191234567890', '8820123456789012', '7719123', 'ABC-1234', '7', ' ~!', '12345A67890123'])('%j is read back from its bars, by the standard\'s own table', (text) => {
  const markup = barcode(text, 'Barcode')?.markup ?? ''
  expect(decoded(markup)).toBe(text)
  expect(scanned(markup).quiet).toEqual([10, 10])
})

test('the table knows each symbol once, and each is eleven modules wide', () => {
  expect(new Set(patterns).size).toBe(107)
  for (const pattern of patterns.slice(0, -1)) expect([...pattern].reduce((sum, width) => sum + Number(width), 0)).toBe(11)
})

test.each(['', 'é', 'a\u0000b', 'x'.repeat(49)])('%j has no bars', (text) => {
  expect(barcode(text, 'Barcode')).toBeNull()
})

test('its name is text', () => {
  expect(barcode('1234', '"><script>')?.markup).not.toContain('<script>')
})
