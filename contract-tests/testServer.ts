import type { TestProject } from 'vitest/node'
import { createTemplate, startTestServer } from '../db/testDatabase.ts'
import type { TestServerInfo } from '../db/testDatabase.ts'
import { installQueues } from '../jobs/queues.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    testServer: TestServerInfo
  }
}

/** One PostgreSQL for the whole run, with a migrated template of each database to clone. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startTestServer()
  await Promise.all([
    createTemplate(server.info, 'template_main', 'main', { afterwards: installQueues }),
    createTemplate(server.info, 'template_identity', 'identity'),
  ])
  project.provide('testServer', server.info)
  return () => server.stop()
}
