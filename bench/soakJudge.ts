import type { JudgedFigure } from './results.ts'

/** What was read of the running system at one time. */
export interface SoakSample {
  /** Seconds since the load began. */
  at: number
  /** Resident bytes of each process, by its name. */
  memory: Readonly<Record<string, number>>
  /** Of each table, by its name. */
  rows: Readonly<Record<string, { dead: number, live: number }>>
  /** Tables and indexes together. */
  bytes: number
  /** Written ahead since the load began, and what of it is kept on disk. */
  walBytes: number
  walKept: number
  /** Rows of the job queue that are not done. */
  openJobs: number
  /** Deliveries written, and those of them that are due and not sent yet. */
  deliveries: number
  overdue: number
}

/** What is not growth: the first part of the run fills caches, pools and the heap. */
const warmUpShare = 1 / 3
const leastSamples = 6
/** From this long a run on, growth shows as a slope; a shorter one says no more than how far a heap swings, and one that ends while heaps still fill says nothing of it. */
export const enduringMinutes = 20
const leastMinutesForMemory = 10
/** Bytes a process may gain in an hour at the slope seen after warm-up, and in a run that is too short for that in all. */
const memoryPerHour = 64 * 2 ** 20
const memorySwing = 48 * 2 ** 20
/** Of one table. Autovacuum looks each minute, and in the busiest one, which counts the lists, this load leaves 9,000 a minute. */
const deadShare = 0.5
const deadRowsAlways = 30_000
const walPerRequest = 64 * 1024
/** PostgreSQL keeps 1 GiB (max_wal_size) by default, and what is written while a checkpoint goes on. */
const walKeptMost = 1.5 * 2 ** 30
const openJobsMost = 10_000
const overdueShare = 0.1

/**
 * Judges a soak: after warm-up no process grows, the dead rows of each table are cleared as they come, what is written ahead
 * stays in proportion to the requests and is not kept, and neither jobs nor due deliveries pile up. Throws when there are too
 * few samples to say.
 */
export function judgeSoak(samples: readonly SoakSample[], requests: number): JudgedFigure[] {
  const last = samples.at(-1)
  const settled = samples.filter(({ at }) => at >= (last?.at ?? 0) * warmUpShare)
  if (!last || settled.length < leastSamples) throw new Error(`${settled.length} samples after warm-up are too few to judge: at least ${leastSamples}`)
  const mostJobs = Math.max(...settled.map(({ openJobs }) => openJobs))
  const mostKept = Math.max(...settled.map(({ walKept }) => walKept))
  const wal = last.walBytes / Math.max(requests, 1)
  const overdueMost = Math.max(100, last.deliveries * overdueShare)
  return [
    ...Object.keys(last.memory).map((name) => judgeMemory(name, settled, samples.some(({ memory }) => Object.values(memory).some(Number.isFinite)))),
    judgeDeadRows(settled),
    { name: 'written ahead', figure: `${(wal / 1024).toFixed(1)} KiB a request`, bar: `${walPerRequest / 1024} KiB a request`, held: wal <= walPerRequest },
    { name: 'written ahead and kept', figure: `${mebibytes(mostKept)} at most`, bar: mebibytes(walKeptMost), held: mostKept <= walKeptMost },
    { name: 'open jobs', figure: `${mostJobs} at most`, bar: String(openJobsMost), held: mostJobs <= openJobsMost },
    { name: 'deliveries due and not sent', figure: `${last.overdue} of ${last.deliveries}`, bar: `${overdueMost.toFixed(0)}`, held: last.overdue <= overdueMost },
  ]
}

/** `isRead`: memory can be read on this machine, so that a process without any is one that has ended. */
function judgeMemory(process: string, settled: readonly SoakSample[], isRead: boolean): JudgedFigure {
  const name = `memory of ${process}`
  const points = settled.map((sample): [number, number] => [sample.at / 3600, sample.memory[process] ?? Number.NaN])
  const unread = points.filter(([, bytes]) => Number.isNaN(bytes)).length
  if (!isRead) return { name, figure: 'not measured: there is no /proc', bar: '', held: null }
  if (unread > 0) return { name, figure: `the process was gone in ${unread} of ${points.length} samples`, bar: 'it runs', held: false }
  const [[from] = [0], [to, bytes] = [0, 0]] = [points[0], points.at(-1)]
  const perHour = slopeOf(points)
  const gained = perHour * (to - from)
  const minutes = Math.round(to * 60)
  if (minutes < leastMinutesForMemory) return { name, figure: mebibytes(bytes), bar: `none below ${leastMinutesForMemory} minutes: heaps still fill`, held: null }
  const enduring = minutes >= enduringMinutes
  return {
    name, figure: `${mebibytes(bytes)}; ${mebibytes(gained)} gained after warm-up, ${mebibytes(perHour)} an hour`,
    bar: enduring ? `gains at most ${mebibytes(memoryPerHour)} an hour` : `gains at most ${mebibytes(memorySwing)}`,
    held: enduring ? perHour <= memoryPerHour : gained <= memorySwing,
  }
}

function judgeDeadRows(settled: readonly SoakSample[]): JudgedFigure {
  const all = settled.flatMap(({ rows }) => Object.entries(rows).map(([table, { dead, live }]) => ({
    table, dead, live, share: dead / Math.max(deadRowsAlways, live * deadShare),
  })))
  const most = all.reduce((worst, one) => one.share > worst.share ? one : worst, { table: 'no table', dead: 0, live: 0, share: 0 })
  return {
    name: 'dead rows of a table', figure: `${most.dead} beside ${most.live} live ones in ${most.table} at most`, held: all.length > 0 && most.share <= 1,
    bar: `never above ${deadRowsAlways}, or ${deadShare * 100} % of its live ones`,
  }
}

/** Slope of the straight line nearest to the points (least squares). */
export function slopeOf(points: readonly (readonly [number, number])[]): number {
  const mean = (at: 0 | 1): number => points.reduce((sum, point) => sum + point[at], 0) / points.length
  const [x, y] = [mean(0), mean(1)]
  const spread = points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0)
  return spread === 0 ? 0 : points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0) / spread
}

export const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`
