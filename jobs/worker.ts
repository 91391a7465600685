import type { Job } from 'pg-boss'
import type { Boss } from './boss.ts'

export interface WorkOptions {
  /** Batches worked on at a time in this process; a batch ends with its slowest job. Default 1. */
  concurrency?: number
  /** Jobs per batch. Default 10. */
  batchSize?: number
  /** Most jobs of one group at a time in this process, so that one slow receiver cannot hold every place. */
  perGroup?: number
}

/** A job as a handler gets it; `signal` aborts when the job's time is up or the process stops. */
export type WorkedJob<Data> = Pick<Job<Data>, 'id' | 'data' | 'retryCount' | 'signal'>

/**
 * Works on a queue: asks twice a second, at once while batches come full. The jobs of a batch run side by side and
 * end one by one: a handler that throws fails its own job only, which is then tried again up to five times.
 * Waits for the queue to be reachable; does nothing when the boss was stopped before.
 */
export async function work<Data extends object>(
  boss: Boss, queue: string, handler: (job: WorkedJob<Data>) => Promise<void>, options: WorkOptions = {},
): Promise<void> {
  await boss.whenReady()
  const { concurrency = 1, batchSize = 10, perGroup } = options
  const settings = {
    pollingIntervalSeconds: 0.5,
    batchSize,
    burstWhenBatchFull: true,
    localConcurrency: concurrency,
    perJobResults: true,
    ...(perGroup === undefined ? {} : { localGroupConcurrency: perGroup }),
  } as const
  await boss.client?.work<Data, void, typeof settings>(queue, settings, (jobs) =>
    Promise.all(
      jobs.map(async (job) => {
        try {
          await handler(job)
          return { id: job.id, status: 'completed' as const }
        } catch (error) {
          return { id: job.id, status: 'failed' as const, output: { message: String(error) } }
        }
      }),
    ),
  )
}
