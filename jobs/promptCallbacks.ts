import { giveBackCallbacks } from '../db/payments/providerCallbacks.ts'
import type { HeldCallback } from '../db/payments/providerCallbacks.ts'
import { processCallback } from './processCallback.ts'
import type { CallbackObserver, CallbackSettings } from './processCallback.ts'

/** Callbacks that the process which answered them goes on with at once. */
export interface PromptCallbacks {
  /** Begins as soon as a place is free. Never throws; what it cannot take is found by the sweep once its lease has lapsed. */
  take(held: HeldCallback): void
  /**
   * Begins nothing more, and waits for what is at work, at most `graceMs`. What has not begun, and what is still at work
   * then, is given back, so that a worker takes it at its next turn and need not wait for the lease to lapse. Never throws.
   */
  stop(graceMs?: number): Promise<void>
}

const atATime = 8
const waitingAtMost = 200
const stopGraceMs = 2000

/** Processes callbacks in this process, a few at a time, so that a payer who has paid need not wait for a sweep. */
export function promptCallbacks(settings: CallbackSettings, observer: CallbackObserver): PromptCallbacks {
  const line: HeldCallback[] = []
  const atWork = new Map<HeldCallback, Promise<void>>()
  let stopped = false

  const giveBack = async (held: readonly HeldCallback[]): Promise<void> => {
    if (held.length === 0) return
    // Where the database is away their leases lapse by themselves.
    await settings.database.query((sql) => giveBackCallbacks(sql, held, settings.runtime.now())).catch(() => undefined)
  }

  const begin = (): void => {
    while (!stopped && atWork.size < atATime) {
      const held = line.shift()
      if (!held) return
      const work = processCallback(held, settings, observer).then(
        () => undefined, (error: unknown) => observer.failed(error, { provider: held.provider, callbackId: held.id }),
      ).finally(() => {
        atWork.delete(held)
        begin()
      })
      atWork.set(held, work)
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
      await giveBack(line.splice(0))
      if (atWork.size > 0) await Promise.race([Promise.all(atWork.values()), settings.runtime.sleep(graceMs)])
      await giveBack([...atWork.keys()])
    },
  }
}
