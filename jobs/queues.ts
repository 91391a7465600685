import { installBoss } from './boss.ts'
import type { QueueDefinition } from './boss.ts'
import { deliveryQueue } from './deliveryJobs.ts'
import { withdrawalQueue } from './endAttempts.ts'
import { retentionQueue } from './retention.ts'

/** Every queue of the system. A queue is an alarm clock for rows; the rows are the truth. */
export const queues: readonly QueueDefinition[] = [
  { name: retentionQueue, policy: 'exclusive' },
  // Thousands a minute, and done as soon as they are read.
  { name: deliveryQueue, policy: 'exclusive', keepDoneSeconds: 60 },
  { name: withdrawalQueue, policy: 'exclusive' },
]

/** Installs the job queue beside the tables, at migration time. */
export async function installQueues(url: string): Promise<void> {
  await installBoss(url, [...queues])
}
