import { connect } from '../../db/sql.ts'
import { sealingKeys } from '../../domain/sealing.ts'
import type { EventKind } from '../../domain/webhookEvents.ts'
import { subscribe } from '../webhooks/events.ts'
import { startReceiverProcess } from '../webhooks/receiver.ts'
import type { ReceiverProcess } from '../webhooks/receiver.ts'
import { openStage } from './stage.ts'
import type { Stage, StageOptions } from './stage.ts'

export interface StageWithReceiver {
  /** Ends the receiver too when it is closed. */
  stage: Stage
  receiver: ReceiverProcess
}

/** A stage beside a receiver of webhooks that its workers may send to. */
export async function openStageWithReceiver(say: (line: string) => void, options: StageOptions = {}): Promise<StageWithReceiver> {
  const started: ReceiverProcess[] = []
  const stop = (): void => started.forEach((receiver) => receiver.stop())
  try {
    const stage = await openStage(say, {
      ...options,
      environment: async (directory, databaseUrl) => {
        const receiver = await startReceiverProcess(directory)
        started.push(receiver)
        return { ...receiver.environment, ...await options.environment?.(directory, databaseUrl) }
      },
    })
    const [receiver] = started
    if (!receiver) throw new Error('there is no receiver')
    return { receiver, stage: { ...stage, close: (keepLogs) => stage.close(keepLogs).finally(stop) } }
  } catch (error) {
    stop()
    throw error
  }
}

/** What happens to the intents of a drill. */
const kinds: readonly EventKind[] = ['payment_intent.created', 'payment.completed', 'payment.failed', 'payment_intent.expired']

/** Subscribes every merchant of the stage to the receiver, which takes whatever it is sent. */
export async function subscribeMerchants({ stage, receiver }: StageWithReceiver): Promise<void> {
  const database = connect(stage.databaseUrl, { max: 1, limitMs: 10_000, applicationName: 'bayar drill' })
  try {
    for (const { id: merchantId, tenantId } of stage.merchants) {
      await subscribe(database, { tenantId, merchantId }, `${receiver.url}/ok`, sealingKeys(stage.sealingKeys), kinds)
    }
  } finally {
    await database.end()
  }
}
