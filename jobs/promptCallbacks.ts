import type { HeldCallback } from '../db/payments/providerCallbacks.ts'
import { processCallback } from './processCallback.ts'
import type { CallbackObserver, CallbackSettings } from './processCallback.ts'

/** Callbacks that the process which answered them goes on with at once. */
export interface PromptCallbacks {
  /** Begins as soon as a place is free. Never throws; what it cannot take is found by the sweep once its lease has lapsed. */
  take(held: HeldCallback): void
  /** Begins nothing more, and waits for what is at work, at most `graceMs`. */
  stop(graceMs?: number): Promise<void>
}

const atATime = 8
const waitingAtMost = 200
const stopGraceMs = 2000

/** Processes callbacks in this process, a few at a time, so that a payer who has paid need not wait for a sweep. */
export function promptCallbacks(settings: CallbackSettings, observer: CallbackObserver): PromptCallbacks {
  const line: HeldCallback[] = []
  const atWork = new Set<Promise<void>>()
  let stopped = false

  const begin = (): void => {
    while (!stopped && atWork.size < atATime) {
      const held = line.shift()
      if (!held) return
      const work = processCallback(held, settings, observer).then(
        () => undefined, (error: unknown) => observer.failed(error, { provider: held.provider, callbackId: held.id }),
      ).finally(() => {
        atWork.delete(work)
        begin()
      })
      atWork.add(work)
    }
  }

  return {
    take(held) {
      if (stopped || line.length >= waitingAtMost) return
      line.push(held)
      begin()
    },
    async stop(graceMs = stopGraceMs) {
      stopped = true
      line.length = 0
      if (atWork.size > 0) await Promise.race([Promise.all(atWork), settings.runtime.sleep(graceMs)])
    },
  }
}
