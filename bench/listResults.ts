import type { ListSpeed, ListSpeeds } from './lists.ts'
import { section, table, verdict } from './results.ts'
import type { Section } from './results.ts'

const barMs = 100

const askers: Record<ListSpeed['asker'], string> = {
  big: 'the merchant of a million', small: 'one of the others', several: 'a user at three merchants', tenant: 'a user at all of the tenant',
}

/** The table of lists. Held: the p99 of each question that has a bar. */
export function listsSection({ intents, seedSeconds, speeds, serverVersion }: ListSpeeds): Section {
  const held = speeds.every(({ hasBar, p99 }) => !hasBar || p99 <= barMs)
  return section('Lists: milliseconds, one request at a time', [
    `${intents} intents of one merchant and ${intents / 200} each of a hundred others, half of these in its tenant, with attempts and events, written in ${seedSeconds.toFixed(0)} s. Each`,
    'answer has its exact total. 300 requests where there is a bar, 30 elsewhere. The plan is compared with the one in db/plans, which is of 30,000 intents.',
    '',
    table(['list', 'asked', 'by', 'total', 'p50', 'p99', 'bar', 'plan'], speeds.map(({ list, name, asker, total, p50, p99, hasBar, isAsKept }) => [
      list, name, askers[asker], String(total), p50.toFixed(1), p99.toFixed(1), hasBar ? verdict(p99, barMs, 'ms') : '',
      isAsKept === null ? '' : isAsKept ? 'as kept' : 'another',
    ])),
  ], held, serverVersion)
}
