import type { DeliverySpeed, DrainSpeed } from './deliveries.ts'
import { median } from './median.ts'
import { section, table } from './results.ts'
import type { Section } from './results.ts'

const bars = { perSecond: 1000, p99Ms: 2000, costRatio: 1.3 }

const medianCpu = ({ cpu }: DrainSpeed): number | null => {
  const known = cpu.flatMap((value) => value ?? [])
  return known.length === 0 ? null : median(known)
}

/** The table of deliveries. Held: the bar of the first drain, the cost beside what lies there, the p99, every event at the receiver. */
export function deliveriesSection({ drains, latencies, serverVersion }: DeliverySpeed): Section {
  const [first] = drains
  const base = first ? medianCpu(first) : null
  const ratioOf = (drain: DrainSpeed): number | null => {
    const cpu = medianCpu(drain)
    return drain === first || cpu === null || base === null ? null : cpu / base
  }
  const word = (held: boolean): string => held ? 'held' : 'MISSED'
  const fast = (drain: DrainSpeed): boolean => median(drain.perSecond) >= bars.perSecond
  const bar = (drain: DrainSpeed): string => {
    const ratio = ratioOf(drain)
    const cost = ratio === null ? [] : [`cost within ${bars.costRatio} of the first: ${word(ratio <= bars.costRatio)}`]
    return [`${bars.perSecond}/s: ${word(fast(drain))}`, ...cost].join('; ')
  }
  const held = drains.every((drain) => fast(drain) && (ratioOf(drain) ?? 1) <= bars.costRatio && drain.missing === 0) &&
    latencies.every(({ p99, missing }) => p99 <= bars.p99Ms && missing === 0)
  return section('Webhook deliveries: to a receiver over TLS on this machine', [
    'Backlogs of 12,000 events of 20 subscriptions in 20 tenants, written before the worker starts; every event id is looked up at the receiver. Deliveries a',
    'second from the first arrival to the last, medians of the runs (least to most). CPU of workers and PostgreSQL together.',
    '',
    table(['drained by', 'deliveries/s', 'µs of CPU each', 'of the first', 'events missing', 'arrivals repeated', 'bar'], drains.map((drain) => [
      drain.name, `${median(drain.perSecond).toFixed(0)} (${Math.min(...drain.perSecond).toFixed(0)} to ${Math.max(...drain.perSecond).toFixed(0)})`,
      medianCpu(drain)?.toFixed(0) ?? 'not measured', ratioOf(drain)?.toFixed(2) ?? '', String(drain.missing), String(drain.repeated), bar(drain),
    ])),
    '',
    'Milliseconds from the commit of an event to its arrival.',
    '',
    table(['load', 'events', 'events/s', 'p50', 'p99', 'events missing', 'bar'], latencies.map(({ name, events, perSecond, p50, p99, missing }) => [
      name, String(events), perSecond.toFixed(0), p50.toFixed(0), p99.toFixed(0), String(missing), `p99 ${bars.p99Ms} ms: ${word(p99 <= bars.p99Ms)}`,
    ])),
  ], held, serverVersion)
}
