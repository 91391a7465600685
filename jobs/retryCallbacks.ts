import { lockDueCallbacks, settleCallback } from '../db/payments/providerCallbacks.ts'
import type { Database } from '../db/sql.ts'
import type { Runtime } from '../domain/runtime.ts'
import type { PaymentProvider } from '../providers/paymentProvider.ts'
import { applyCallback } from './applyCallback.ts'
import type { EventSettings } from './paymentEvents.ts'
import { repeat } from './repeat.ts'
import type { Repeated } from './repeat.ts'

export interface CallbackRetrySettings extends EventSettings {
  database: Database
  providers: ReadonlyMap<string, PaymentProvider>
  runtime: Pick<Runtime, 'now' | 'randomBytes' | 'sleep'>
}

/** Waits before an unmatched callback is applied anew, in seconds; after the last one it stays unmatched for a person. */
const retrySeconds = [30, 120, 600, 3600, 21_600, 86_400] as const
/** The wait after the callback itself. */
export const firstRetrySeconds = retrySeconds[0]
const everyMs = 5000
const batch = 25

/** Applies unmatched callbacks anew when they are due (decision 3.3); any number of workers may do so. */
export function startCallbackRetries(settings: CallbackRetrySettings, report: (error: unknown) => void): Repeated {
  return repeat(() => retryCallbacks(settings), { everyMs, sleep: (milliseconds) => settings.runtime.sleep(milliseconds), report })
}

/** One batch. True when there may be more. */
export async function retryCallbacks(settings: CallbackRetrySettings): Promise<boolean> {
  const { database, providers, runtime } = settings
  const now = runtime.now()
  return database.tx(async (sql) => {
    const due = await lockDueCallbacks(sql, now, batch)
    for (const { id, provider, body, tries } of due) {
      const reading = providers.get(provider)?.parseCallback(body)
      const verdict = reading?.outcome === 'understood'
        ? await applyCallback(sql, provider, reading.callback, settings, now)
        : { outcome: 'ignored' as const, detail: 'it can no longer be read', intentId: null }
      const wait = verdict.outcome === 'unmatched' ? retrySeconds[tries] : undefined
      await settleCallback(sql, id, verdict, wait === undefined ? null : new Date(now.getTime() + wait * 1000))
    }
    return due.length === batch
  })
}
