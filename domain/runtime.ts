import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'

/** Everything a service takes from outside itself that a test must be able to hold still. */
export interface Runtime {
  /** Present time. Business deadlines, callbacks and checks of attempts are due by it; other leases and jobs by the database's clock. */
  now(): Date
  /** `size` bytes from a cryptographic source. */
  randomBytes(size: number): Buffer
  /** Outgoing HTTP. */
  fetch: typeof fetch
  /** Waits `milliseconds`. */
  sleep(milliseconds: number): Promise<void>
}

/** The runtime of a running process. */
export const systemRuntime: Runtime = {
  now: () => new Date(),
  randomBytes: (size) => randomBytes(size),
  fetch: (...request) => fetch(...request),
  sleep: (milliseconds) => wait(milliseconds),
}
