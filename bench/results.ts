import type { OperationSpeed } from './payments.ts'
import type { PipelineCost } from './pipeline.ts'
import type { StartUp } from './startUp.ts'

export interface Measured {
  machine: string
  versions: string
  date: string
  pipeline: PipelineCost
  startUp: StartUp
  payments: readonly OperationSpeed[]
}

const bars = { pipelineMicroseconds: 60, startSeconds: 3 }

/** The tables in Markdown, and whether a bar was missed. */
export function results({ machine, versions, date, pipeline, startUp, payments }: Measured): { text: string, failed: boolean } {
  const { cpu, own, ownExpress, ownChecked, operations } = pipeline
  const cost = ({ median, low, high }: PipelineCost['cpu']['http']) => `${median.toFixed(1)} (${low.toFixed(1)} to ${high.toFixed(1)})`
  const held = own <= bars.pipelineMicroseconds && startUp.cold <= bars.startSeconds && startUp.synthetic.ready <= bars.startSeconds
  const lines = [
    '# Measured by `make bench`',
    '',
    `${date}, ${machine}, ${versions}. Server, database and load generator share the machine: compare within one run only.`,
    '',
    '## Pipeline: CPU microseconds a request',
    '',
    `A document of ${operations} operations, requests to every resource in turn (a list with 6 query parameters and 10 entries in the answer, a look-up, a`,
    'creation with key and a change, the last two with bodies of 20 members), no database. Whole server process, medians over the runs (least to most).',
    '',
    table(['server', 'µs of CPU a request', 'above bare node:http', 'bar'], [
      ['bare node:http, the same bytes', cost(cpu.http), '', ''],
      ['bare Express route, the same bytes', cost(cpu.express), ownExpress.toFixed(1), ''],
      ['pipeline', cost(cpu.pipeline), own.toFixed(1), verdict(own, bars.pipelineMicroseconds, 'µs')],
      ['pipeline, answers checked as in the sandbox', cost(cpu['pipeline-checked']), ownChecked.toFixed(1), ''],
    ]),
    '',
    '## Start-up to ready: seconds',
    '',
    table(['what', 'seconds', 'bar'], [
      ['payments process, database there, nothing kept', startUp.cold.toFixed(2), verdict(startUp.cold, bars.startSeconds, 's')],
      ['payments process, database there, compiled code kept', startUp.kept.toFixed(2), ''],
      [`pipeline with ${operations} operations, no database`, startUp.synthetic.ready.toFixed(2), verdict(startUp.synthetic.ready, bars.startSeconds, 's')],
      ['of that, compiling the document', startUp.synthetic.compile.toFixed(2), ''],
    ]),
    '',
    '## Payments: one process, 16 connections',
    '',
    'The driver runs the same statements in the same transactions, 16 at a time, from the process of the bench; where rows written or scans made differ, it is',
    'not compared. Times are milliseconds. No ratio is judged here yet.',
    '',
    table(['operation', 'requests/s', 'p50', 'p99', 'p99 at half', 'driver alone/s', 'rows in, changed, scans'], payments.map(({ name, service, half, driverPerSecond, work }) => [
      name, service.perSecond.toFixed(0), service.p50.toFixed(1), service.p99.toFixed(1), half.p99.toFixed(1),
      driverPerSecond === null ? 'not compared' : driverPerSecond.toFixed(0),
      driverPerSecond === null ? `${figures(work.service)}; driver ${figures(work.driver)}` : figures(work.service),
    ])),
    '',
  ]
  return { text: lines.join('\n'), failed: !held }
}

function figures({ inserted, updated, scans }: OperationSpeed['work']['service']): string {
  return [inserted, updated, scans].map((value) => value.toFixed(1)).join(', ')
}

function verdict(value: number, bar: number, unit: string): string {
  return `${bar} ${unit}: ${value <= bar ? 'held' : 'MISSED'}`
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(heads), `|${heads.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}
