import { median } from './median.ts'
import type { OperationSpeed, PaymentsSpeed } from './payments.ts'
import { failureCell, figure, section, table, word } from './results.ts'
import type { Section } from './results.ts'

interface Bar {
  /** What the ratio is taken of. */
  of: 'its statements' | 'the statements of the first row' | 'the point select'
  ratio: number
  p99AtHalfMs?: number
}

const bars: Record<OperationSpeed['name'], Bar> = {
  'createPaymentIntent, several channels': { of: 'its statements', ratio: 0.3, p99AtHalfMs: 50 },
  'createPaymentIntent, through the simulator': { of: 'the statements of the first row', ratio: 0.15, p99AtHalfMs: 80 },
  'getPaymentIntent': { of: 'the point select', ratio: 0.35 },
}

/** The ratios with their bars, then what they are made of. Held: every bar that could be judged, and no request failed. */
export function paymentsSection({ operations, notCompared }: PaymentsSpeed, server: string): Section {
  const judged = operations.map((operation) => ({
    ...operation, bar: bars[operation.name], ...judge(operation, operations[0]), failures: failureCell([operation.warmUp, ...operation.service, ...operation.half]),
  }))
  const rates = (values: readonly number[]): string => values.length === 0 ? 'not compared'
    : `${median(values).toFixed(0)} (${Math.min(...values).toFixed(0)} to ${Math.max(...values).toFixed(0)})`
  const ofDriver = ({ service, driver }: OperationSpeed): string => (rateOf(service) / median(driver)).toFixed(2)
  return section('Payments: one process, 16 connections', [
    'Ratios of requests a second to runs a second of the statements which the operation was seen to send, recorded between the service and PostgreSQL in this run:',
    'through pgbench (prepared, one statement after the other), and through the driver alone (sent together where the service does). 16 at a time, in turn,',
    'medians of the runs, after VACUUM ANALYZE and a checkpoint, as on a server that has run for some minutes. A creation writes its event, a delivery and its',
    'job; the log of requests, written in batches beside the requests, is part of the service\'s work alone.',
    ...(notCompared === null ? [] : [`Not compared with pgbench: ${notCompared.replaceAll(/\s+/g, ' ').trim()}.`]),
    '',
    table(['operation', 'of pgbench', 'bar', 'of the driver', 'p99 at half load, ms', 'bar', 'requests that failed'], judged.map((row) => [
      row.name, row.ratio === null ? 'not compared' : `${row.ratio.toFixed(2)} x ${row.bar.of}`,
      row.ratio === null ? `${row.bar.ratio.toFixed(2)}: not compared` : `${row.bar.ratio.toFixed(2)}: ${word(row.ratio >= row.bar.ratio)}`,
      ofDriver(row), figure(row.p99, 1), row.bar.p99AtHalfMs === undefined ? '' : `${row.bar.p99AtHalfMs} ms: ${word(row.p99 <= row.bar.p99AtHalfMs)}`,
      row.failures.cell,
    ])),
    '',
    ...judged.filter(({ bar, pointSelect }) => bar.of === 'the point select' && pointSelect.length > 0).flatMap(({ name, driver, pointSelect, size }) => [
      `What the bar of ${name} leaves room for: the driver alone, from one process and without HTTP, runs its ${size.statements} statements (the API key is looked up anew for`,
      `every request) ${(median(driver) / median(pointSelect)).toFixed(2)} x as often as pgbench runs the point select. A bar above that cannot hold.`,
      '',
    ]),
    'The same, in full: a second (least to most), milliseconds. Half load is open: requests begin at even distances whatever is unanswered, timed from when they',
    'were due; the generator is a process of its own.',
    '',
    table(['operation', 'requests/s', 'pgbench/s', 'driver/s', 'p50', 'p99', 'half load/s', 'p50 at half'], judged.map((row) => [
      row.name, rates(row.service.map(({ perSecond }) => perSecond)),
      row.pointSelect.length === 0 ? rates(row.pgbench) : `${rates(row.pgbench)}; point select ${rates(row.pointSelect)}`, rates(row.driver),
      figure(median(row.service.map(({ p50 }) => p50)), 1), figure(median(row.service.map(({ p99 }) => p99)), 1),
      row.halfRate.toFixed(0), figure(median(row.half.map(({ p50 }) => p50)), 1),
    ])),
    '',
    'What a request costs: CPU microseconds of the payments process and of PostgreSQL, of PostgreSQL for the same statements through pgbench; statements, and how',
    'often they are waited for (a recorded begin and commit each are a wait).',
    '',
    table(['operation', 'service', 'PostgreSQL', 'PostgreSQL through pgbench', 'statements', 'waits for PostgreSQL'], judged.map(({ name, cpu, size }) => [
      name, ...[cpu.service, cpu.server, cpu.reference].map((value) => figure(value)), String(size.statements), String(size.flights),
    ])),
  ], judged.every(({ bar, ratio, p99, failures }) =>
    failures.held && (ratio ?? bar.ratio) >= bar.ratio && (bar.p99AtHalfMs === undefined || p99 <= bar.p99AtHalfMs)), server)
}

function judge(operation: OperationSpeed, first: OperationSpeed | undefined): { ratio: number | null, p99: number } {
  const references = { 'its statements': operation.pgbench, 'the statements of the first row': first?.pgbench ?? [], 'the point select': operation.pointSelect }
  const reference = references[bars[operation.name].of]
  return {
    ratio: reference.length === 0 ? null : rateOf(operation.service) / median(reference), p99: median(operation.half.map(({ p99 }) => p99)),
  }
}

const rateOf = (reports: OperationSpeed['service']): number => median(reports.map(({ perSecond }) => perSecond))
