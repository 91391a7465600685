export interface TokenBuckets {
  take(key: string): { allowed: boolean, limit: number, remaining: number, resetSeconds: number, retrySeconds: number }
}

/** Buckets above which those that are full again are forgotten: a full bucket and an unknown one are the same. */
const sweepAbove = 20_000

/** Token buckets by key: `perSecond` tokens flow in, up to `burst`. `now` is in milliseconds. */
export function tokenBuckets(perSecond: number, burst: number, now: () => number): TokenBuckets {
  const buckets = new Map<string, { tokens: number, at: number }>()
  let sweepAt = sweepAbove
  const sweep = (time: number): void => {
    for (const [key, { tokens, at }] of buckets) {
      if (tokens + (time - at) / 1000 * perSecond >= burst) buckets.delete(key)
    }
    // An attack from many addresses at once may leave nothing to forget; do not look again at every request.
    sweepAt = Math.max(sweepAbove, buckets.size * 2)
  }
  return {
    take(key) {
      const time = now()
      let bucket = buckets.get(key)
      if (!bucket) {
        if (buckets.size >= sweepAt) sweep(time)
        bucket = { tokens: burst, at: time }
        buckets.set(key, bucket)
      }
      bucket.tokens = Math.min(burst, bucket.tokens + Math.max(0, time - bucket.at) / 1000 * perSecond)
      bucket.at = time
      const allowed = bucket.tokens >= 1
      if (allowed) bucket.tokens -= 1
      return {
        allowed,
        limit: burst,
        remaining: Math.floor(bucket.tokens),
        resetSeconds: Math.ceil((burst - bucket.tokens) / perSecond),
        retrySeconds: Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond)),
      }
    },
  }
}
