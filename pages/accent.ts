/** Colours that follow from a merchant's accent colour, each as `#rrggbb`. */
export interface AccentColours {
  accent: string
  /** Text on the accent. */
  on: string
  /** The accent as text on the page's own grounds, in light and in dark. */
  ink: { light: string, dark: string }
}

/** The least favourable of the page's grounds that accent text stands on. */
const grounds = { light: '#f4f6f8', dark: '#1b212a' } as const
/** WCAG 2.2, 1.4.3. */
const readable = 4.5

/** What stands on and beside the accent: always readable, whatever the merchant has chosen. `accent` is `#rrggbb`. */
export function accentColours(accent: string): AccentColours {
  return {
    accent,
    on: contrast(accent, '#ffffff') >= contrast(accent, '#000000') ? '#fff' : '#000',
    ink: { light: mixedUntilReadable(accent, '#000000', grounds.light), dark: mixedUntilReadable(accent, '#ffffff', grounds.dark) },
  }
}

/** The contrast of two colours (WCAG 2.2): 1 to 21. */
export function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

function mixedUntilReadable(colour: string, towards: string, ground: string): string {
  for (let share = 0; share < 1; share += 0.05) {
    const mixed = mix(colour, towards, share)
    if (contrast(mixed, ground) >= readable) return mixed
  }
  return towards
}

function mix(one: string, other: string, share: number): string {
  const [from, to] = [parts(one), parts(other)]
  return `#${from.map((part, at) => Math.round(part + ((to[at] ?? 0) - part) * share).toString(16).padStart(2, '0')).join('')}`
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = parts(colour).map((part) => part / 255).map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function parts(colour: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16))
}
