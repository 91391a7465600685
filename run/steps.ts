import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

export interface Counts {
  passed: number
  failed: number
  skipped: number
}

/** One thing that `make check` or `make test` does. */
export interface Step {
  name: string
  /** What it found; `output` is shown when something failed. */
  run(): Promise<{ counts: Counts, output: string }>
}

export const once = (ok: boolean): Counts => ({ passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0 })

export function sum(all: readonly Counts[]): Counts {
  return {
    passed: all.reduce((total, { passed }) => total + passed, 0),
    failed: all.reduce((total, { failed }) => total + failed, 0),
    skipped: all.reduce((total, { skipped }) => total + skipped, 0),
  }
}

/** The counts as the last line of a test run says them. */
export function inWords({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}

/** Reads what `inWords` wrote from the last line of `output`; undefined when it says something else. */
export function fromWords(output: string): Counts | undefined {
  const match = /(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/.exec(output.trimEnd())
  return match ? { passed: Number(match[1]), failed: Number(match[2]), skipped: Number(match[3] ?? 0) } : undefined
}

/** Runs a script of the repository on this very Node. With `show` its output is seen as it comes. */
export function node(script: string, args: readonly string[] = [], show = false): Promise<{ code: number, output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const [stream, shown] of [[child.stdout, process.stdout], [child.stderr, process.stderr]] as const) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
        if (show) shown.write(text)
      })
    }
    child.once('error', reject)
    child.once('close', (code) => resolve({ code: code ?? 1, output }))
  })
}

/** Runs steps, at most two at a time, and says of each how long it took and what it counted. Failures are shown in full. */
export async function runSteps(steps: readonly Step[]): Promise<Counts> {
  const rest = steps.values()
  const results: Counts[] = []
  const worker = async (): Promise<void> => {
    for (const step of rest) results.push(await timed(step))
  }
  await Promise.all([worker(), worker()])
  return sum(results)
}

/** Runs one step and says what became of it. A step that throws has failed. */
export async function timed({ name, run }: Step): Promise<Counts> {
  const from = performance.now()
  const { counts, output } = await run().catch((error: unknown) => ({ counts: once(false), output: String(error) }))
  report(name, counts, (performance.now() - from) / 1000)
  if (counts.failed > 0 && output !== '') console.log(output.trimEnd().replaceAll(/^/gm, '    '))
  return counts
}

export function report(name: string, counts: Counts, seconds: number): void {
  console.log(`${counts.failed > 0 ? 'FAILED' : 'ok    '}  ${name.padEnd(24)} ${seconds.toFixed(1).padStart(6)} s  ${inWords(counts)}`)
}
