import { listProvidersWithDueCallbacks, takeDueCallbacks } from '../db/payments/providerCallbacks.ts'
import { newId } from '../db/ids.ts'
import { callbackLeaseSeconds, processCallback } from './processCallback.ts'
import type { CallbackObserver, CallbackSettings } from './processCallback.ts'
import { providerLanes } from './providerLanes.ts'
import type { Repeated } from './repeat.ts'
import { atATime, sweep } from './sweep.ts'

const everyMs = 2000

/**
 * Processes callbacks whose holder is gone, and those that are due for another try, every 2 s and at once while there
 * are more; any number of workers may do so.
 */
export function startCallbackSweep(settings: CallbackSettings, observer: CallbackObserver): Repeated {
  return providerLanes(settings, {
    everyMs, waiting: listProvidersWithDueCallbacks,
    turn: (provider, halted) => sweepCallbacks(settings, provider, observer, halted),
    report: (error, about) => observer.failed(error, about),
  })
}

/** One batch of a provider. True when there may be more, and this came to something. */
export function sweepCallbacks(
  settings: CallbackSettings, provider: string, observer: CallbackObserver, halted = new AbortController().signal,
): Promise<boolean> {
  const { database, runtime } = settings
  return sweep({
    list: () => {
      const now = runtime.now()
      const leaseUntil = new Date(now.getTime() + callbackLeaseSeconds * 1000)
      return database.query((sql) => takeDueCallbacks(sql, provider, { now, leaseToken: newId(runtime), leaseUntil, most: atATime }))
    },
    resume: (held) => processCallback(held, settings, observer),
    failed: (error, { id }) => observer.failed(error, { provider, callbackId: id }),
    // No more than are begun at once: a lease runs from the moment it is taken.
    batch: atATime, halted,
  })
}
