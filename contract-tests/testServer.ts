import type { TestProject } from 'vitest/node'
import { createTemplate, startTestServer } from '../db/testDatabase.ts'
import type { TestServerInfo } from '../db/testDatabase.ts'
import identityBundle from '../generated/identity.json' with { type: 'json' }
import paymentsBundle from '../generated/payments.json' with { type: 'json' }
import storefrontBundle from '../generated/storefront.json' with { type: 'json' }
import { installQueues } from '../jobs/queues.ts'
import { openAccount } from './answersSeen.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    testServer: TestServerInfo
  }
}

/**
 * One PostgreSQL for the whole run, with a migrated template of each database to clone. A full run (BAYAR_FULL_RUN) also
 * fails when a declared answer was met by no test.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const closeAccount = openAccount(process.env)
  const server = await startTestServer()
  await Promise.all([
    createTemplate(server.info, 'template_main', 'main', { afterwards: installQueues }),
    createTemplate(server.info, 'template_identity', 'identity'),
  ])
  project.provide('testServer', server.info)
  return async () => {
    await server.stop()
    const missing = closeAccount([paymentsBundle, storefrontBundle, identityBundle])
    if (missing !== null) {
      process.stderr.write(`\n${missing}\n`)
      process.exitCode = 1
    }
  }
}
