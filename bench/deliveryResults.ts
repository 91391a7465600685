import type { DeliverySpeed, DrainSpeed, Latency } from './deliveries.ts'
import { median } from './median.ts'
import { figure, section, table, word } from './results.ts'
import type { Section } from './results.ts'

const bars = { perSecond: 1000, p99Ms: 2000, costRatio: 1.3 }

const medianCpu = ({ cpu }: DrainSpeed): number | null => {
  const known = cpu.flatMap((value) => value ?? [])
  return known.length === 0 ? null : median(known)
}

const missingCell = ({ missing }: { missing: number }): string => missing === 0 ? '0' : `${missing}: MISSED`

/** The table of deliveries. Held: the rate of each drain and of what is written meanwhile, the cost beside what lies there, the p99, every event at the receiver. */
export function deliveriesSection({ drains, latencies, serverVersion }: DeliverySpeed): Section {
  const [first] = drains
  const base = first ? medianCpu(first) : null
  const ratioOf = (drain: DrainSpeed): number | null => {
    const cpu = medianCpu(drain)
    return drain === first || cpu === null || base === null ? null : cpu / base
  }
  const fast = (drain: DrainSpeed): boolean => median(drain.perSecond) >= bars.perSecond
  const bar = (drain: DrainSpeed): string => {
    const ratio = ratioOf(drain)
    const cost = ratio === null ? [] : [`cost within ${bars.costRatio} of the first: ${word(ratio <= bars.costRatio)}`]
    return [`${bars.perSecond}/s: ${word(fast(drain))}`, ...cost].join('; ')
  }
  const sustained = ({ bar: least, perSecond }: Latency): boolean => least === null || perSecond >= least
  const held = drains.every((drain) => fast(drain) && (ratioOf(drain) ?? 1) <= bars.costRatio && drain.missing === 0) &&
    latencies.every((latency) => sustained(latency) && latency.p99 <= bars.p99Ms && latency.missing === 0)
  return section('Webhook deliveries: to a receiver over TLS on this machine', [
    'Backlogs of 12,000 events of 20 subscriptions in 20 tenants, written before the worker starts; every event id is looked up at the receiver. Deliveries a',
    'second from the first arrival to the last, medians of the runs (least to most). CPU of workers and PostgreSQL together.',
    '',
    table(['drained by', 'deliveries/s', 'µs of CPU each', 'of the first', 'events missing', 'arrivals repeated', 'bar'], drains.map((drain) => [
      drain.name, `${median(drain.perSecond).toFixed(0)} (${Math.min(...drain.perSecond).toFixed(0)} to ${Math.max(...drain.perSecond).toFixed(0)})`,
      figure(medianCpu(drain)), ratioOf(drain)?.toFixed(2) ?? '', missingCell(drain), String(drain.repeated), bar(drain),
    ])),
    '',
    'Events as they happen, each written in a transaction of its own while the worker delivers: how many a second were written or arrived, whichever is less (without',
    'the first and the last twentieth), and milliseconds from the commit of an event to its arrival.',
    '',
    table(['load', 'events', 'events/s', 'p50', 'p99', 'events missing', 'bar'], latencies.map((latency) => [
      latency.name, String(latency.events), figure(latency.perSecond), figure(latency.p50), figure(latency.p99), missingCell(latency),
      [...latency.bar === null ? [] : [`${latency.bar}/s: ${word(sustained(latency))}`], `p99 ${bars.p99Ms} ms: ${word(latency.p99 <= bars.p99Ms)}`].join('; '),
    ])),
  ], held, serverVersion)
}
