import { connect } from '../../db/sql.ts'
import { sealingKeys } from '../../domain/sealing.ts'
import { startBoss } from '../../jobs/boss.ts'
import { randomFrom } from './drill.ts'
import type { Drill, DrillReport } from './drill.ts'
import { openStageWithReceiver } from './stageWithReceiver.ts'
import { droppedQueue, killedWorkers, stoppedPostgres } from './webhookFaults.ts'
import { flood, retention, slowNeighbour } from './webhookLoad.ts'
import { matrix } from './webhookMatrix.ts'
import { runPart } from './webhookParts.ts'
import type { WebhookPart } from './webhookParts.ts'

const parts: readonly WebhookPart[] = [matrix, killedWorkers, stoppedPostgres, droppedQueue, slowNeighbour, retention, flood]

/** Deliveries under everything that may happen to them; the invariants are looked at after each part. */
export const webhooks: Drill = {
  name: 'webhooks',
  about: 'workers killed, PostgreSQL stopped, the queue dropped, every kind of receiver, a slow one, a flood; in the short form less of each',
  async run({ short, seed, say }) {
    const { stage, receiver } = await openStageWithReceiver(say, { workers: 2 })
    const database = connect(stage.databaseUrl, { max: 8, limitMs: 60_000, applicationName: 'bayar drill' })
    const boss = await startBoss(stage.databaseUrl, { worker: false })
    const at = { stage, receiver, database, boss, sealing: sealingKeys(stage.sealingKeys), acknowledged: [] }
    const reports: DrillReport[] = []
    let passed = false
    try {
      for (const [number, part] of parts.entries()) {
        if (!(short && part.long)) reports.push(await runPart(part, at, { short, say, random: randomFrom(seed, number), loadSeed: seed + 1 + number }))
      }
      const failures = reports.flatMap((report) => report.failures)
      passed = failures.length === 0
      return { failures, figures: reports.flatMap((report) => report.figures) }
    } finally {
      await boss.stop(100)
      await database.end()
      const logs = await stage.close(!passed)
      if (logs) say(`the logs are in ${logs}`)
    }
  },
}
