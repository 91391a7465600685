/** What the receiver can be told to answer, and how it is called on the page. */
export const answers = {
  '200': { label: '200 OK', status: 200, afterSeconds: 0 },
  '204': { label: '204 No Content', status: 204, afterSeconds: 0 },
  '302': { label: '302 redirect (a failure to the sender)', status: 302, afterSeconds: 0 },
  '404': { label: '404 Not Found', status: 404, afterSeconds: 0 },
  '410': { label: '410 Gone', status: 410, afterSeconds: 0 },
  '429': { label: '429 with Retry-After', status: 429, afterSeconds: 0 },
  '500': { label: '500 Internal Server Error', status: 500, afterSeconds: 0 },
  'slow-10': { label: '204 after 10 s', status: 204, afterSeconds: 10 },
  'slow-29': { label: '204 after 29 s (just in time)', status: 204, afterSeconds: 29 },
  'slow-35': { label: '204 after 35 s (too late: 30 s is the limit)', status: 204, afterSeconds: 35 },
  'drop': { label: 'no answer: drop the connection', status: null, afterSeconds: 0 },
} as const

export type AnswerName = keyof typeof answers

/** What is answered until it is changed, or to the next ones. */
export interface AnswerRule {
  answer: AnswerName
  /** Null: every kind that has no rule of its own. */
  kind: string | null
  /** How many deliveries it is for still; null: until it is changed. */
  left: number | null
  /** Of a 429. */
  retryAfterSeconds: number
}

export interface AnswerChooser {
  /** Takes the place of the rule for the same kind. */
  choose(rule: AnswerRule): void
  /** Back to what a receiver should answer, for everything. */
  reset(): void
  /** The rule for a delivery that has just come, which uses it up by one; undefined: none was chosen. */
  take(kind: string | null): AnswerRule | undefined
  rules(): readonly AnswerRule[]
}

/** Nothing is kept: after a restart nothing is chosen. */
export function answerChooser(): AnswerChooser {
  let rules: AnswerRule[] = []
  const without = (rule: AnswerRule): AnswerRule[] => rules.filter(({ kind }) => kind !== rule.kind)
  return {
    choose(rule) {
      rules = [...without(rule), rule]
    },
    reset() {
      rules = []
    },
    take(kind) {
      const rule = rules.find((one) => one.kind !== null && one.kind === kind) ?? rules.find((one) => one.kind === null)
      if (rule?.left === 1) rules = without(rule)
      else if (rule && rule.left !== null) rules = rules.map((one) => one === rule ? { ...one, left: (one.left ?? 0) - 1 } : one)
      return rule
    },
    rules: () => rules,
  }
}

/** Most deliveries that one choice can be for, and the longest Retry-After. */
export const limits = { deliveries: 1000, retryAfterSeconds: 3600 } as const

const longestKind = 100

/** Reads the chooser's form: a rule, `reset` for none, or what is wrong with it, in words. */
export function readChoice(form: URLSearchParams): { rule: AnswerRule } | { reset: true } | { problem: string } {
  const answer = form.get('answer') ?? ''
  if (answer === 'receiver') return { reset: true }
  if (!Object.hasOwn(answers, answer)) return { problem: `answer must be receiver, ${Object.keys(answers).join(', ')}` }
  const kind = form.get('kind') || null
  if (kind !== null && kind.length > longestKind) return { problem: `kind has more than ${longestKind} characters` }
  const left = wholeNumber(form.get('count') || null, limits.deliveries)
  if (left === undefined) return { problem: `count must be a whole number from 1 to ${limits.deliveries}, or empty: until it is changed` }
  const retryAfterSeconds = wholeNumber(form.get('retry_after') || '30', limits.retryAfterSeconds)
  if (!retryAfterSeconds) return { problem: `retry_after must be a whole number of seconds from 1 to ${limits.retryAfterSeconds}` }
  return { rule: { answer: answer as AnswerName, kind, left, retryAfterSeconds } }
}

/** Null stays null; undefined: it is none from 1 to `most`. */
function wholeNumber(text: string | null, most: number): number | null | undefined {
  if (text === null) return null
  const number = Number(text)
  return /^\d{1,6}$/.test(text) && number >= 1 && number <= most ? number : undefined
}

/** A rule as a sentence for the banner. */
export function ruleInWords({ answer, kind, left, retryAfterSeconds }: AnswerRule): string {
  const what = answer === 'drop' ? 'no answer, the connection is dropped' : answer === '429' ? `429, Retry-After ${retryAfterSeconds} s` : answers[answer].label
  const which = kind === null ? 'Every delivery' : kind
  const until = left === null ? 'until this is changed' : left === 1 ? 'for the next one' : `for the next ${left}`
  return `${which}: ${what}, ${until}.`
}
