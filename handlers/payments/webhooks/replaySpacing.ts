import type { Fail } from '../../http/handler.ts'

/** Refuses what comes sooner than `seconds` after the last of its kind, with how long to wait. */
export function assertSpaced(last: Date | null | undefined, seconds: number, now: Date, message: string, fail: Fail<'rate_limited'>): void {
  const wait = last ? Math.ceil((last.getTime() - now.getTime()) / 1000 + seconds) : 0
  if (wait <= 0) return
  const text = String(wait)
  fail('rate_limited', { message, headers: { 'Retry-After': text, 'RateLimit-Limit': '1', 'RateLimit-Remaining': '0', 'RateLimit-Reset': text } })
}
