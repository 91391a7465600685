import type { Express } from 'express'
import type { Logger } from 'pino'
import type { Database } from '../db/sql.ts'
import type { Configuration } from '../domain/configuration.ts'
import type { Runtime } from '../domain/runtime.ts'
import type { Contract } from './http/contract.ts'
import type { AnyHandler } from './http/handler.ts'
import type { Observation } from './http/pipeline.ts'

/** What every service is built from. */
export interface ServiceParts {
  configuration: Configuration
  database: Database
  runtime: Runtime
  log: Logger
  observe(observation: Observation): void
  /** Milliseconds on a clock that never steps back, for the rate limits; left out: the process's own. */
  elapsed?: () => number
  /** True once the process was told to end; readiness says so. */
  isDraining(): boolean
  /** Replaces handlers, for tests of what the pipeline makes of a failing one. */
  overrides?: Record<string, AnyHandler>
}

/** A service, ready to listen. */
export interface Service {
  name: 'payments' | 'storefront' | 'identity'
  express: Express
  contract: Contract
}

/** Whether answers are checked against the document (architecture: outside production). */
export function checksResponses({ BAYAR_CHECK_RESPONSES, BAYAR_ENV }: Configuration): boolean {
  return BAYAR_CHECK_RESPONSES === 'auto' ? BAYAR_ENV !== 'production' : BAYAR_CHECK_RESPONSES === 'on'
}
