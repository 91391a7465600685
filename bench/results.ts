import { cpus, totalmem } from 'node:os'
import { failuresIn } from './openLoad.ts'
import type { LoadReport } from './openLoad.ts'
import type { PipelineCost } from './pipeline.ts'
import type { StartUp } from './startUp.ts'

/** A part of bench/results.md, which begins with its heading. */
export interface Section {
  text: string
  /** No bar was missed. */
  held: boolean
}

const bars = { pipelineMicroseconds: 60, startSeconds: 3, everythingSeconds: 8 }

const head = [
  '# Measured by `make bench`',
  '',
  'Each table says when and on what it was measured. Server, database and load generator share the machine: compare within one table only.',
].join('\n')

/** The whole of results.md with one section in the place of its former one, or behind the others. */
export function resultsWith(before: string, { text }: Section): string {
  const heading = (part: string): string => /^## [^\n:]*/.exec(part)?.[0] ?? ''
  const [, ...parts] = before.split(/^(?=## )/m)
  const known = parts.map((part) => part.trim())
  const at = known.findIndex((part) => heading(part) === heading(text))
  return `${[head, ...(at < 0 ? [...known, text] : known.with(at, text))].join('\n\n')}\n`
}

/** A section under its heading, with when and where it was measured; `server` is the version of PostgreSQL that took part. */
export function section(heading: string, lines: readonly string[], held: boolean, server?: string): Section {
  const [processor] = cpus()
  const machine = `${cpus().length} x ${processor?.model.trim() ?? 'unknown processor'}, ${(totalmem() / 2 ** 30).toFixed(0)} GiB`
  const versions = [`Node ${process.versions.node}`, ...(server === undefined ? [] : [`PostgreSQL ${server}`])]
  const measured = `Measured ${new Date().toISOString().slice(0, 10)} on ${[machine, ...versions].join(', ')}.`
  return { text: [`## ${heading}`, '', measured, '', ...lines].join('\n').trim(), held }
}

export function pipelineSection({ cpu, own, ownExpress, ownChecked, operations }: PipelineCost): Section {
  const cost = ({ median, low, high }: PipelineCost['cpu']['http']) => `${median.toFixed(1)} (${low.toFixed(1)} to ${high.toFixed(1)})`
  return section('Pipeline: CPU microseconds a request, judged by what it adds to bare node:http', [
    `A document of ${operations} operations, requests to every resource in turn (a list with 6 query parameters and 10 entries in the answer, a look-up, a`,
    'creation with key and a change, the last two with bodies of 20 members), no database. Whole server process, medians over the runs (least to most).',
    'The bar is of the second column, medians of the differences run by run: reading and writing HTTP is no part of the pipeline.',
    '',
    table(['server', 'µs of CPU a request', 'above bare node:http', 'bar'], [
      ['bare node:http, the same bytes', cost(cpu.http), '', ''],
      ['bare Express route, the same bytes', cost(cpu.express), ownExpress.toFixed(1), ''],
      ['pipeline', cost(cpu.pipeline), own.toFixed(1), verdict(own, bars.pipelineMicroseconds, 'µs')],
      ['pipeline, answers checked as in the sandbox', cost(cpu['pipeline-checked']), ownChecked.toFixed(1), ''],
    ]),
  ], own <= bars.pipelineMicroseconds)
}

export function startUpSection({ cold, kept, synthetic, everything }: StartUp, server: string): Section {
  return section('Start-up to ready: seconds', [
    table(['what', 'seconds', 'bar'], [
      ['payments process, database there, nothing kept', cold.toFixed(2), verdict(cold, bars.startSeconds, 's')],
      ['payments process, database there, compiled code kept', kept.toFixed(2), ''],
      ['pipeline with 330 operations, no database', synthetic.ready.toFixed(2), verdict(synthetic.ready, bars.startSeconds, 's')],
      ['of that, compiling the document', synthetic.compile.toFixed(2), ''],
      ['all of `make run`, from nothing but node_modules', everything.toFixed(2), verdict(everything, bars.everythingSeconds, 's')],
    ]),
  ], cold <= bars.startSeconds && synthetic.ready <= bars.startSeconds && everything <= bars.everythingSeconds, server)
}

/** `60 µs: held`, or MISSED. */
export function verdict(value: number, bar: number, unit: string): string {
  return `${bar} ${unit}: ${word(value <= bar)}`
}

/** Something that was judged, as a row of a table. */
export interface JudgedFigure {
  name: string
  figure: string
  bar: string
  /** Null: it could not be judged. */
  held: boolean | null
}

export const judgedTable = (figures: readonly JudgedFigure[]): string =>
  table(['what', 'figure', 'bar', ''], figures.map(({ name, figure: told, bar, held }) => [name, told, bar, word(held)]))

/** How a bar ends in a table; null: it could not be judged. */
export const word = (held: boolean | null): string => held === null ? 'not judged' : held ? 'held' : 'MISSED'

/** A figure, or that there is none: nothing was answered, or it cannot be read here. */
export function figure(value: number | null, digits = 0): string {
  return value === null || Number.isNaN(value) ? 'not measured' : value.toFixed(digits)
}

/** What failed of the requests of a row, with the bar that nothing does. */
export function failureCell(reports: readonly Pick<LoadReport, 'answered' | 'failures'>[]): { cell: string, held: boolean } {
  const { failed, text } = failuresIn(reports)
  return { cell: failed === 0 ? '0' : `${text}: MISSED`, held: failed === 0 }
}

export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(heads), `|${heads.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}
