import { readFileSync, readdirSync } from 'node:fs'

// Ticks of a second in /proc, the same on every Linux that Node runs on.
const ticks = 100

/** Fields of /proc/<pid>/stat from the third one on; undefined when there is no such process, or no /proc. */
function statOf(pid: number | string): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}

const used = (stat: readonly string[], withEnded: boolean): number =>
  (withEnded ? [11, 12, 13, 14] : [11, 12]).reduce((sum, field) => sum + Number(stat[field]), 0) / ticks

/** CPU seconds of a process and all its children, those that have ended among them; null where that cannot be read. */
export function cpuSeconds(pid: number): number | null {
  const own = statOf(pid)
  if (!own) return null
  const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(statOf).filter((stat) => stat?.[1] === String(pid))
  return children.reduce((sum, stat) => sum + (stat ? used(stat, true) : 0), used(own, true))
}
