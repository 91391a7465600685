import type { Runtime } from '../../domain/runtime.ts'
import type { Queued } from './behaviours.ts'
import type { CallbackSettings } from './callbacks.ts'
import type { Ledger } from './ledger.ts'

/** Everything that the simulator's operations share. */
export interface Shop {
  readonly ledger: Ledger
  readonly runtime: Runtime
  readonly callbacks: CallbackSettings
  /** How a payer's browser reaches the simulator. */
  readonly publicUrl: string
  /** Behaviours that wait for their call, first come first served. */
  readonly queue: Queued[]
}
