import { setTimeout as wait } from 'node:timers/promises'
import { signCallback } from '../../providers/callbackSignature.ts'
import { callbackBody } from '../../providers/simulator/callbacks.ts'
import type { StoredCharge } from '../../providers/simulator/ledger.ts'
import type { Load } from './callers.ts'
import type { KeyedIntent } from './keyedIntent.ts'
import type { Stage } from './stage.ts'

export interface Payer {
  /** Intents whose payment the service has been told of, and has said so. */
  paid: readonly KeyedIntent[]
  /** Intents whose payment was declined, of which the service has been told the same way. */
  declined: readonly KeyedIntent[]
  /** Intents that were paid or declined without the service having said that it knows: what became of them is in doubt. */
  unconfirmed: readonly KeyedIntent[]
  /** Every callback: of which charge, and its answer; null where there was none. */
  callbacks: readonly CallbackTry[]
  /** Answers to a callback that were neither a success nor a 503, and callbacks that were not taken in time. */
  wrong: readonly string[]
  /** Resolves when no payment is left that is told of still. */
  finish(): Promise<void>
}

export interface CallbackTry {
  reference: string
  status: number | null
}

type ChargeWithCallbacks = Omit<StoredCharge, 'notices'> & { callbacks_made: number }

interface Moved {
  charge: ChargeWithCallbacks
  callback: { status?: number } | null
}

const pauseMs = 100
/** Of so many payments one is declined. */
const declineEvery = 6
const againMs = 200
const callLimitMs = 20_000
/** A service that takes no callback for so long stays broken. */
const takenWithinMs = 30_000

/** Pays an acknowledged charge now and then, or declines it, and repeats the callback, as providers do, until it is taken or half a minute has passed. */
export function startPayer(stage: Stage, load: Load): Payer {
  const paid: KeyedIntent[] = []
  const declined: KeyedIntent[] = []
  const unconfirmed: KeyedIntent[] = []
  const callbacks: CallbackTry[] = []
  const wrong: string[] = []
  let ending = false

  const confirm = async (intent: KeyedIntent, isDeclined: boolean): Promise<void> => {
    const { charges: [charge] } = await stage.simulator.charges({ merchant_reference: intent.key })
    if (!charge) throw new Error(`the simulator has no charge for the intent ${intent.intentId}`)
    const moved = await stage.simulator.move(charge.reference, isDeclined ? 'decline' : 'pay') as unknown as Moved
    const began = performance.now()
    let status = note(charge.reference, moved.callback?.status ?? null)
    while (status === null || status === 503) {
      if (performance.now() - began > takenWithinMs) break
      await wait(againMs)
      status = note(charge.reference, await repeatCallback(moved.charge))
    }
    if (status === 200) return void (isDeclined ? declined : paid).push(intent)
    unconfirmed.push(intent)
    const seconds = Math.round((performance.now() - began) / 1000)
    wrong.push(`the callback of ${charge.reference} is answered ${status ?? 'by nobody'} after ${seconds} s`)
  }

  const note = (reference: string, status: number | null): number | null => {
    callbacks.push({ reference, status })
    return status
  }

  const repeatCallback = async (charge: ChargeWithCallbacks): Promise<number | null> => {
    const stored: StoredCharge = { ...charge, notices: charge.callbacks_made }
    const payment = charge.payments.at(-1) ?? null
    const body = Buffer.from(JSON.stringify(callbackBody(stored, payment ? 'paid' : 'failed', payment)))
    try {
      const response = await fetch(stage.callbacks.url, {
        method: 'POST', body, signal: AbortSignal.timeout(callLimitMs),
        headers: {
          'Content-Type': 'application/json',
          'X-Simulator-Signature': signCallback(stage.callbacks.secret, body, new Date()),
        },
      })
      await response.arrayBuffer()
      return response.status
    } catch {
      return null
    }
  }

  const running = (async () => {
    for (let taken = 1; !ending && !stage.closing.aborted; await wait(pauseMs)) {
      const intent = load.takeCharged()
      if (!intent) continue
      await confirm(intent, taken % declineEvery === 0)
      taken += 1
    }
  })()
  // Told at the end: what fails meanwhile must not end the process.
  running.catch(() => undefined)
  return {
    paid, declined, unconfirmed, callbacks, wrong,
    finish: () => {
      ending = true
      return running
    },
  }
}
