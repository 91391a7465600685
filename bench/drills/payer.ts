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
  /** Answers to a callback that were neither a success nor a 503. */
  wrong: readonly string[]
  /** Resolves when no payment is left unconfirmed. */
  finish(): Promise<void>
}

type ChargeWithCallbacks = Omit<StoredCharge, 'notices'> & { callbacks_made: number }

interface Moved {
  charge: ChargeWithCallbacks
  callback: { status?: number } | null
}

const pauseMs = 100
const againMs = 200
const callLimitMs = 20_000

/** Pays an acknowledged charge now and then, and repeats the callback, as providers do, until it is taken. */
export function startPayer(stage: Stage, load: Load): Payer {
  const paid: KeyedIntent[] = []
  const wrong: string[] = []
  let ending = false

  const confirm = async (intent: KeyedIntent): Promise<void> => {
    const { charges: [charge] } = await stage.simulator.charges({ merchant_reference: intent.key })
    if (!charge) throw new Error(`the simulator has no charge for the intent ${intent.intentId}`)
    const moved = await stage.simulator.pay(charge.reference) as unknown as Moved
    let status = moved.callback?.status ?? null
    while (status !== 200) {
      if (status !== null && status !== 503) {
        wrong.push(`the callback of ${charge.reference} is answered ${status}`)
        return
      }
      await wait(againMs)
      status = await repeatCallback(moved.charge)
    }
    paid.push(intent)
  }

  const repeatCallback = async (charge: ChargeWithCallbacks): Promise<number | null> => {
    const stored: StoredCharge = { ...charge, notices: charge.callbacks_made }
    const body = Buffer.from(JSON.stringify(callbackBody(stored, 'paid', charge.payments.at(-1) ?? null)))
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
    while (!ending) {
      const intent = load.takeCharged()
      if (intent) await confirm(intent)
      await wait(pauseMs)
    }
  })()
  // Told at the end: what fails meanwhile must not end the process.
  running.catch(() => undefined)
  return {
    paid, wrong,
    finish: () => {
      ending = true
      return running
    },
  }
}
