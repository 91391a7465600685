import { awaitMigrated } from '../db/awaitMigrated.ts'
import { connect } from '../db/sql.ts'
import { readConfiguration } from '../domain/configuration.ts'
import { systemRuntime } from '../domain/runtime.ts'
import { sealingKeys } from '../domain/sealing.ts'
import { callbackObserver, createLog, errorOf } from '../handlers/log.ts'
import { createMetrics, serveMetrics } from '../handlers/metrics.ts'
import { webhookSenderOf } from '../providers/webhookSender.ts'
import { queueDepths, startBoss } from './boss.ts'
import { startCallbackSweep } from './callbackSweep.ts'
import { startChargeSweep } from './chargeSweep.ts'
import { creationSettings } from './creationSettings.ts'
import { startExpiry } from './expireIntents.ts'
import { startFolding } from './foldListChanges.ts'
import { startReconciler } from './reconcileAttempts.ts'
import { startRetention } from './retention.ts'
import { startWebhookReplays } from './webhookReplays.ts'
import { startWebhookWorker } from './webhookWorker.ts'
import { workOnWithdrawals } from './withdrawalWork.ts'

const drainMs = 8000

/** Runs a worker until it is told to end: `node jobs/main.ts`. Any number may run beside each other. */
async function main(): Promise<void> {
  const configuration = readConfiguration('worker', process.env)
  const log = createLog('worker', configuration)
  const database = connect(configuration.DATABASE_URL, { max: configuration.DATABASE_CONNECTIONS, applicationName: 'bayar worker' })
  await awaitMigrated(database, 'main', systemRuntime.sleep, (reason) => log.warn({ reason: reason.message }, 'waiting for the database'))
  const boss = await startBoss(configuration.DATABASE_URL, {
    // What is due of webhooks is found without it.
    worker: true, awaitsQueues: true, log: (problem, level) => log[level === 'error' ? 'error' : 'warn']({ error: errorOf(problem) }, 'queue'),
  })
  const metrics = createMetrics('worker', () => database.stats(), () => queueDepths(boss))
  const metricsServer = configuration.METRICS_PORT > 0 ? await serveMetrics(metrics, configuration.METRICS_PORT) : null
  const creation = creationSettings(configuration, database, boss, systemRuntime, (problem) => log.error({ ...problem }, 'provider misconfigured'))
  const sweep = startChargeSweep(creation, (error, { provider, providerOperationId, attemptId }) => {
    log.error({ error: errorOf(error), provider, provider_operation: providerOperationId, attempt: attemptId }, 'sweep')
  })
  workOnWithdrawals(boss, creation).catch((error: unknown) => log.error({ error: errorOf(error) }, 'withdrawals'))
  const expiry = startExpiry(creation, (error) => log.error({ error: errorOf(error) }, 'expiry'))
  const callbacks = startCallbackSweep(creation, callbackObserver(log, metrics.observeCallback))
  const reconciler = startReconciler(creation, (error, { provider, attemptId }) => log.error({ error: errorOf(error), provider, attempt: attemptId }, 'reconciler'))
  const folding = startFolding({ database, runtime: systemRuntime, report: (error) => log.error({ error: errorOf(error) }, 'list totals') })
  const retention = startRetention({
    database, boss, runtime: systemRuntime, days: { webhooks: configuration.WEBHOOK_RETENTION_DAYS, callbacks: configuration.PROVIDER_CALLBACK_RETENTION_DAYS },
    report: (error) => log.error({ error: errorOf(error) }, 'retention'),
  })
  const webhooks = startWebhookWorker({
    database, boss, runtime: systemRuntime, sealing: sealingKeys(configuration.SEALING_KEYS), sender: webhookSenderOf(configuration),
    report: (error, about) => log.error({ error: errorOf(error), ...about }, 'webhooks'),
  })
  const replays = startWebhookReplays({
    database, boss, runtime: systemRuntime, report: (error, about) => log.error({ error: errorOf(error), ...about }, 'webhook replays'),
  })
  log.info('ready')
  process.send?.({ ready: true })
  let draining = false
  const end = (signal: string): void => {
    if (draining) return
    draining = true
    log.info({ signal }, 'draining')
    metricsServer?.close()
    // What is cut off here is taken over by another worker: its lease lapses, or its job's heartbeat does (decision 9.3: within 10 s).
    const finished = Promise.all([sweep.stop(), expiry.stop(), callbacks.stop(), reconciler.stop(), folding.stop(), replays.stop(), webhooks.stop().then(() => boss.stop(drainMs)).then(() => retention.stop())])
    void Promise.race([finished, systemRuntime.sleep(drainMs)]).then(() => database.end(1000)).finally(() => process.exit(0))
  }
  process.once('SIGTERM', () => end('SIGTERM'))
  process.once('SIGINT', () => end('SIGINT'))
  // Without its supervisor nobody would restart or stop this process.
  process.once('disconnect', () => end('disconnect'))
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
})
