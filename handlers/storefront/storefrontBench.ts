import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import pino from 'pino'
import { afterAll, inject } from 'vitest'
import { callerOf } from '../../contract-tests/harness/call.ts'
import type { Caller } from '../../contract-tests/harness/call.ts'
import { connect } from '../../db/sql.ts'
import type { Database } from '../../db/sql.ts'
import { cloneDatabase } from '../../db/testDatabase.ts'
import { readConfiguration } from '../../domain/configuration.ts'
import { systemRuntime } from '../../domain/runtime.ts'
import { storefrontService } from './index.ts'

export interface StorefrontBench extends Caller {
  url: string
  database: Database
  /** Tells the service that its process is about to end. */
  drain(): void
}

/** Starts the storefront service over HTTP on a database of its own. Ends with the test file. */
export async function startStorefront(): Promise<StorefrontBench> {
  const clone = await cloneDatabase(inject('testServer'), 'template_main')
  const database = connect(clone.url)
  let draining = false
  const { express, contract } = await storefrontService({
    configuration: readConfiguration('storefront', { DATABASE_URL: clone.url }), database, runtime: systemRuntime,
    log: pino({ level: 'silent' }), observe: () => undefined, isDraining: () => draining,
  })
  const server = createServer(express)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  afterAll(async () => {
    server.close().closeAllConnections()
    await database.end(100)
    await clone.drop()
  })
  return {
    ...callerOf([{ url, contract }]), url, database,
    drain: () => {
      draining = true
    },
  }
}
