import { afterAll } from 'vitest'
import { openReceiver } from './tlsReceiver.ts'
import type { Receiver, Respond } from './tlsReceiver.ts'

export type { ReceivedRequest, Receiver, Respond } from './tlsReceiver.ts'

/** A receiver of webhooks over TLS. Ends with the test file. */
export async function startReceiver(respond?: Respond): Promise<Receiver> {
  const { close, ...receiver } = await openReceiver(respond)
  afterAll(close)
  return receiver
}
