/** What a drill is told. */
export interface DrillOptions {
  /** A few faults instead of all: the form that `make test` runs. */
  short: boolean
  /** Decides which faults come when; the same seed gives the same ones, whatever the load meets. */
  seed: number
  say(line: string): void
}

export interface DrillReport {
  /** What was measured, for people. */
  figures: readonly (readonly [name: string, value: string])[]
  /** What did not hold; a drill without failures is passed. */
  failures: readonly string[]
}

/** A fault, the load it is made under, and the judgement. */
export interface Drill {
  name: string
  about: string
  run(options: DrillOptions): Promise<DrillReport>
}

/**
 * Numbers from 0 up to 1, the same for the same seed and path (mulberry32). Each path has a sequence of its own: how much
 * is drawn from one, and when, changes nothing of another.
 */
export function randomFrom(seed: number, ...path: readonly number[]): () => number {
  let state = path.reduce((above, step) => Math.floor(randomFrom(above + step + 1)() * 2 ** 32), seed) >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The command that repeats drills. */
export function repeating(names: readonly string[], short: boolean, seed: number): string {
  return `make drill ${names.join(' ')}${short ? ' SHORT=on' : ''} SEED=${seed}`
}

/** Whole milliseconds from `low` to `high`. */
export function between(random: () => number, low: number, high: number): number {
  return Math.round(low + random() * (high - low))
}

/** `median 12 ms, most 40 ms`; for no values, that there are none. */
export function medianAndMost(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted[Math.floor((sorted.length - 1) / 2)]
  if (middle === undefined) return 'none'
  return `median ${Math.round(middle)} ms, most ${Math.round(sorted.at(-1) ?? middle)} ms`
}

/** A failure for each thing that did not hold; of many alike the first ones and their number. */
export function failuresOf<Item>(what: string, items: readonly Item[], describe: (item: Item) => string): string[] {
  if (items.length === 0) return []
  const shown = items.slice(0, 3).map(describe)
  return [`${what}: ${items.length}${shown.map((text) => `\n    ${text}`).join('')}`]
}
