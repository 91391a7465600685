import { setTimeout as wait } from 'node:timers/promises'

/** What a promise resolves with, or `otherwise` when that takes longer than `limitMs`; then nobody waits for it any more. */
export async function within<Result, Other>(limitMs: number, work: Promise<Result>, otherwise: Other): Promise<Result | Other> {
  const done = new AbortController()
  const late = wait(limitMs, otherwise, { signal: done.signal }).catch(() => otherwise)
  try {
    return await Promise.race([work, late])
  } finally {
    done.abort()
    // What fails after all must not end the process.
    work.catch(() => undefined)
  }
}
