import type { ListSpeed, ListSpeeds } from './lists.ts'
import { median } from './median.ts'
import { failureCell, figure, section, table, verdict } from './results.ts'
import type { Section } from './results.ts'

const barMs = 100

const askers: Record<ListSpeed['asker'], string> = {
  big: 'the merchant of a million', small: 'one of the others', several: 'a user at three merchants', tenant: 'a user at all of the tenant',
}

/** The table of lists. Held: p99 and plan of each question that has a bar, and no request failed. */
export function listsSection({ intents, seedSeconds, speeds, serverVersion }: ListSpeeds): Section {
  const judged = speeds.map((speed) => ({ ...speed, ...judge(speed) }))
  return section('Lists: milliseconds, evenly paced', [
    `${intents} intents of one merchant and ${intents / 200} each of a hundred others, half of these in its tenant, with attempts and events, written in ${seedSeconds.toFixed(0)} s. Each`,
    'answer has its exact total. Asked by a process of its own, evenly, at half the rate of one after the other (100 a second at most), timed from when each was due:',
    'medians of three runs where there is a bar, one run elsewhere. Where there is a bar, no table may be read from end to end. The plan is compared with the one in',
    'db/plans, which is of 30,000 intents; what another one reads is named.',
    '',
    table(['list', 'asked', 'by', 'total', 'asked/s', 'p50', 'p99', 'bar', 'requests that failed', 'plan'], judged.map((row) => [
      row.list, row.name, askers[row.asker], figure(row.total), figure(row.perSecond), figure(row.p50, 1), figure(row.p99, 1), row.hasBar ? verdict(row.p99, barMs, 'ms') : '',
      row.failures.cell, planCell(row, row.endToEnd),
    ])),
  ], judged.every(({ held }) => held), serverVersion)
}

function judge({ hasBar, reads, warmUp, reports }: ListSpeed) {
  const [p50, p99] = [median(reports.map((report) => report.p50)), median(reports.map((report) => report.p99))]
  const failures = failureCell([warmUp, ...reports])
  const endToEnd = reads.filter((read) => read.includes('Seq Scan'))
  return { p50, p99, failures, endToEnd, held: failures.held && (!hasBar || (p99 <= barMs && endToEnd.length === 0)) }
}

function planCell({ hasBar, isAsKept, reads }: ListSpeed, endToEnd: readonly string[]): string {
  if (hasBar && endToEnd.length > 0) return `${endToEnd.join(', ')}: MISSED`
  if (isAsKept === true) return 'as kept'
  return `${isAsKept === null ? 'none kept' : 'another'}: ${reads.join(', ')}`
}
