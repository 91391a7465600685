/** What was read of the running system at one time. */
export interface SoakSample {
  /** Seconds since the load began. */
  at: number
  /** Resident bytes of each process, by its name. */
  memory: Readonly<Record<string, number>>
  deadRows: number
  liveRows: number
  /** Tables and indexes together. */
  bytes: number
  /** Written ahead since the load began. */
  walBytes: number
  /** Rows of the job queue that are not done. */
  openJobs: number
  /** Deliveries written, and those of them that are due and not sent yet. */
  deliveries: number
  overdue: number
}

export interface SoakVerdict {
  name: string
  figure: string
  bar: string
  held: boolean
}

/** What is not growth: the first part of the run fills caches, pools and the heap. */
const warmUpShare = 1 / 3
const leastSamples = 6
/** Bytes a process may gain in an hour at the slope seen after warm-up, and the swing of a heap that is not growth. */
const memoryPerHour = 64 * 2 ** 20
const memorySwing = 48 * 2 ** 20
const deadShare = 0.5
const deadRowsAlways = 20_000
const walPerRequest = 64 * 1024
const openJobsMost = 10_000
const overdueShare = 0.1

/**
 * Judges a soak: after warm-up no process grows beyond its swing, dead rows are cleared as they come, what is written
 * ahead stays in proportion to the requests, and neither jobs nor due deliveries pile up. Throws when there are too few samples to say.
 */
export function judgeSoak(samples: readonly SoakSample[], requests: number): SoakVerdict[] {
  const last = samples.at(-1)
  const settled = samples.filter(({ at }) => at >= (last?.at ?? 0) * warmUpShare)
  if (!last || settled.length < leastSamples) throw new Error(`${settled.length} samples after warm-up are too few to judge: at least ${leastSamples}`)
  const hours = (last.at - (settled[0]?.at ?? 0)) / 3600
  const memory = Object.keys(last.memory).map((name): SoakVerdict => {
    const perHour = slopeOf(settled.map((sample) => [sample.at / 3600, sample.memory[name] ?? Number.NaN]))
    const gained = perHour * hours
    if (Number.isNaN(gained)) return { name: `memory of ${name}`, figure: 'not measured: there is no /proc', bar: '', held: true }
    return {
      name: `memory of ${name}`, figure: `${mebibytes(last.memory[name] ?? 0)}; ${mebibytes(gained)} gained after warm-up, ${mebibytes(perHour)} an hour`,
      bar: `gains at most ${mebibytes(memorySwing)}, or ${mebibytes(memoryPerHour)} an hour`, held: gained <= memorySwing || perHour <= memoryPerHour,
    }
  })
  const mostDead = Math.max(...settled.map(({ deadRows, liveRows }) => deadRows / Math.max(deadRowsAlways, liveRows * deadShare)))
  const mostJobs = Math.max(...settled.map(({ openJobs }) => openJobs))
  const wal = last.walBytes / Math.max(requests, 1)
  const overdueMost = Math.max(100, last.deliveries * overdueShare)
  return [
    ...memory,
    {
      name: 'dead rows', figure: `${last.deadRows} beside ${last.liveRows} live ones at the end`, held: mostDead <= 1,
      bar: `never above ${deadRowsAlways}, or ${deadShare * 100} % of the live ones`,
    },
    { name: 'written ahead', figure: `${(wal / 1024).toFixed(1)} KiB a request`, bar: `${walPerRequest / 1024} KiB a request`, held: wal <= walPerRequest },
    { name: 'open jobs', figure: `${mostJobs} at most`, bar: String(openJobsMost), held: mostJobs <= openJobsMost },
    { name: 'deliveries due and not sent', figure: `${last.overdue} of ${last.deliveries}`, bar: `${overdueMost.toFixed(0)}`, held: last.overdue <= overdueMost },
  ]
}

/** Slope of the straight line nearest to the points (least squares). */
export function slopeOf(points: readonly (readonly [number, number])[]): number {
  const mean = (at: 0 | 1): number => points.reduce((sum, point) => sum + point[at], 0) / points.length
  const [x, y] = [mean(0), mean(1)]
  const spread = points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0)
  return spread === 0 ? 0 : points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0) / spread
}

export const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`
