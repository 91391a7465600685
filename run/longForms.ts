/** A test that goes on for longer when it is told to. */
export interface LongForm {
  name: string
  /** Files, as vitest takes them. */
  files: readonly string[]
  /** Environment that makes it long; what is set already stays as it is. */
  settings: Readonly<Record<string, string>>
  /** Its files measure time: they run one after the other. */
  alone?: boolean
}

/** What `make test-long` runs, one after the other. */
export const longForms: readonly LongForm[] = [
  { name: 'payment intents against their model', files: ['contract-tests/intentModel.test.ts'], settings: { BAYAR_MODEL_STEPS: '100000' } },
  { name: 'fuzz of every operation', files: ['contract-tests/fuzz.test.ts'], settings: { BAYAR_FUZZ_RUNS: '700' } },
  { name: 'payment against cancellation against expiry', files: ['jobs/intentHistories.test.ts'], settings: { BAYAR_RACES: '10000' } },
  {
    name: 'drills that every run leaves out, in their short form',
    files: ['backends', 'pool', 'postgresStop', 'rollingRestart', 'slowNetwork', 'webhooks'].map((name) => `bench/drills/${name}.test.ts`), settings: {}, alone: true,
  },
  { name: 'one and two processes beside each other', files: ['bench/scaleOut.test.ts'], settings: {}, alone: true },
  { name: 'every look of the hosted checkout', files: ['pages/checkoutStates.browser.test.ts', 'pages/checkoutFamilies.browser.test.ts'], settings: { BAYAR_LOOKS: 'every' } },
]
