import { makeOwner, subscribe, writeOne } from '../webhooks/events.ts'
import type { Owner } from '../webhooks/events.ts'
import { until } from '../webhooks/receiver.ts'
import { failuresOf } from './drill.ts'
import type { WebhookPart, WebhookStage } from './webhookParts.ts'

/** A receiver of one kind, and what the first attempt and what comes after it must be. */
interface Row {
  name: string
  path?: string
  url?: (at: WebhookStage) => string
  /** Left out of the short form, which has not the time. */
  long?: boolean
  outcome: 'succeeded' | 'failed'
  status: number | null
  error: string | null
  /** Bytes of the answer that are kept. */
  body?: number
  header?: readonly [name: string, value: string]
  /** Milliseconds that the attempt takes at least, and at most. */
  lasts?: readonly [least: number, most: number]
  /** Seconds from the failure until the next attempt is due: least, most. Default: the formula's. */
  again?: readonly [least: number, most: number]
}

const formula = [1, 3] as const
const failed = { outcome: 'failed', error: 'status' } as const

const rows: readonly Row[] = [
  { name: '200', path: '/status/200', outcome: 'succeeded', status: 200, error: null, body: 10 },
  { name: '204', path: '/status/204', outcome: 'succeeded', status: 204, error: null, body: 0 },
  { name: '302', path: '/redirect/302', outcome: 'failed', status: 302, error: 'redirect', header: ['location', '/status/200'] },
  { name: '404', path: '/status/404', ...failed, status: 404, body: 10 },
  { name: '410', path: '/status/410', ...failed, status: 410, body: 10 },
  { name: '429 with Retry-After: 5', path: '/later/5', ...failed, status: 429, header: ['retry-after', '5'], again: [5, 5] },
  { name: '500', path: '/status/500', ...failed, status: 500, body: 10 },
  { name: '29 s', path: '/sleep/29000', long: true, outcome: 'succeeded', status: 204, error: null, lasts: [29_000, 30_000] },
  { name: '31 s', path: '/sleep/31000', long: true, outcome: 'failed', status: null, error: 'timeout', lasts: [29_900, 31_000] },
  { name: 'reset', path: '/reset', outcome: 'failed', status: null, error: 'connection_reset' },
  { name: 'bad TLS', url: ({ receiver }) => `${receiver.untrustedUrl}/ok`, outcome: 'failed', status: null, error: 'tls' },
  { name: 'unknown name', url: () => 'https://nowhere.invalid/ok', outcome: 'failed', status: null, error: 'name_not_resolved' },
  { name: '10 MB body', path: '/big', outcome: 'succeeded', status: 200, error: null, body: 2048 },
]

interface Found {
  delivery: string
  status: string
  attempt: number
  active: boolean
  last_success_at: Date | null
  last_failure_at: Date | null
  outcome: string | null
  answered: number | null
  error: string | null
  headers: Record<string, string> | null
  kept: number | null
  duration_ms: number | null
  /** Seconds from the end of the first attempt until the next was due, or began. */
  again: number | null
}

/** Each kind of receiver gets an event; delivery, attempt and subscription are looked at once the first attempt has ended. */
export const matrix: WebhookPart = {
  name: 'receivers',
  async run(at, { short, say }) {
    const subjects: { row: Row, owner: Owner, subscription: string, event: string }[] = []
    for (const row of rows.filter(({ long }) => !(short && long))) {
      const owner = await makeOwner(at.database)
      const subscription = await subscribe(at.database, owner, row.url?.(at) ?? `${at.receiver.url}${row.path}`, at.sealing)
      const { id } = await writeOne(at.database, at.boss, owner)
      at.acknowledged.push({ kind: 'event', id })
      subjects.push({ row, owner, subscription, event: id })
    }
    say(`${subjects.length} receivers have an event each`)
    const ended = async (): Promise<boolean> => {
      const found = await Promise.all(subjects.map(({ subscription }) => find(at, subscription)))
      return found.every((each) => each?.outcome)
    }
    const inTime = await until(ended, short ? 15_000 : 45_000, 250)
    const problems: string[] = []
    const table: (readonly [string, string])[] = []
    for (const { row, subscription } of subjects) {
      const found = await find(at, subscription)
      problems.push(...judge(row, found).map((problem) => `${row.name}: ${problem}`))
      table.push([row.name, describe(found)])
    }
    return { figures: table, failures: [...(inTime ? [] : ['a first attempt has not ended in time']), ...failuresOf('receivers', problems, (text) => text)] }
  },
}

async function find({ database }: WebhookStage, subscription: string): Promise<Found | undefined> {
  const [row] = await database.query((sql) => sql<Found[]>`
    select d.id as delivery, d.status, d.attempt, s.active, s.last_success_at, s.last_failure_at, a.outcome, a.status as answered, a.error,
      a.response_headers as headers, length(a.response_body) as kept, a.duration_ms,
      extract(epoch from coalesce(
        (select n.started_at from payments.webhook_attempts n where n.delivery_id = d.id and n.number = 2), d.due_at) - a.ended_at)::float8 as again
    from payments.webhook_subscriptions s
    join payments.webhook_deliveries d on d.subscription_id = s.id
    left join payments.webhook_attempts a on a.delivery_id = d.id and a.number = 1
    where s.id = ${subscription}`)
  return row
}

/** Seconds that a retry may begin later than it is due: what a job and a sweep take. */
const lateSeconds = 4

function judge(row: Row, found: Found | undefined): string[] {
  if (!found) return ['no delivery']
  const wrong: string[] = []
  const expect = (what: string, is: unknown, should: unknown): void => {
    if (is !== should) wrong.push(`${what} is ${String(is)} instead of ${String(should)}`)
  }
  expect('the attempt', found.outcome, row.outcome)
  expect('its status', found.answered, row.status)
  expect('its error', found.error, row.error)
  if (row.body !== undefined) expect('what is kept of the body', found.kept ?? 0, row.body)
  if (row.header) expect(row.header[0], found.headers?.[row.header[0]], row.header[1])
  if (row.status === null) expect('the head', found.headers, null)
  expect('the subscription\'s activity', found.active, true)
  const [least, most] = row.lasts ?? [0, 5000]
  if (found.duration_ms === null || found.duration_ms < least || found.duration_ms > most) wrong.push(`it took ${found.duration_ms} ms`)
  if (row.outcome === 'succeeded') {
    expect('the delivery', found.status, 'delivered')
    expect('the number of attempts', found.attempt, 1)
    expect('the subscription\'s last failure', found.last_failure_at, null)
    return wrong
  }
  expect('the delivery', found.status, 'pending')
  if (found.last_failure_at === null) wrong.push('the subscription knows of no failure')
  const [soonest, latest] = row.again ?? formula
  // A due time is kept in milliseconds, downwards.
  if (found.again === null || found.again < soonest - 0.05 || found.again > latest + lateSeconds) {
    wrong.push(`the next attempt is ${found.again} s after the first`)
  }
  return wrong
}

function describe(found: Found | undefined): string {
  if (!found) return 'no delivery'
  const answer = found.outcome === 'succeeded' ? `${found.answered}` : `${found.error}${found.answered === null ? '' : ` ${found.answered}`}`
  const next = found.status === 'pending' ? `, again after ${found.again?.toFixed(1)} s` : ''
  return `${found.status} by attempt ${found.attempt}; the first one ${answer} in ${found.duration_ms} ms, ${found.kept ?? 0} bytes kept${next}`
}
