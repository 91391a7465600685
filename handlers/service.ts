import type { Express } from 'express'
import type { Logger } from 'pino'
import type { Database } from '../db/sql.ts'
import type { Configuration } from '../domain/configuration.ts'
import type { Runtime } from '../domain/runtime.ts'
import type { Boss } from '../jobs/boss.ts'
import type { CallbackNotice } from '../jobs/processCallback.ts'
import type { BrandLogos } from '../providers/brandLogos.ts'
import type { Contract } from './http/contract.ts'
import type { AnyHandler } from './http/handler.ts'
import type { MakePages } from './http/pageHandler.ts'
import type { Observation } from './http/pipeline.ts'
import type { CheckoutSandbox } from './payments/checkoutSandbox.ts'

/** What every service is built from. */
export interface ServiceParts {
  configuration: Configuration
  database: Database
  runtime: Runtime
  log: Logger
  observe(observation: Observation): void
  /** Told what became of each callback that this process has processed. */
  observeCallback?(notice: CallbackNotice): void
  /** Milliseconds on a clock that never steps back, for the rate limits; left out: the process's own. */
  elapsed?: () => number
  /** True once the process was told to end; readiness says so. */
  isDraining(): boolean
  /** Replaces the job queue that the service would start. */
  boss?: Boss
  /** Makes the hosted pages of the payments service, which know it by its public operations alone. */
  pages?(surroundings: PageSurroundings): MakePages
  /** Replaces handlers, for tests of what the pipeline makes of a failing one. */
  overrides?: Record<string, AnyHandler>
}

/** What the hosted pages are told of the service they stand before. */
export interface PageSurroundings {
  /** Null in production. */
  sandbox: CheckoutSandbox | null
  /** Waits for branding that was not known when it was read, a second at most; null when all was. */
  brandsUnderWay(): Promise<void> | null
  /** Merchants' logos, from other hosts, as this process keeps them. */
  logos: BrandLogos
  /** CHANNEL_DISPLAY_FILE: how channels are shown; empty: by the neutral defaults. */
  channelDisplayFile: string
  /** Whether the service is reached by https alone. */
  httpsOnly: boolean
  now(): Date
}

/** A service, ready to listen. */
export interface Service {
  name: 'payments' | 'storefront' | 'identity'
  express: Express
  contract: Contract
  /** What must be done once the last request is answered, in this order, before the database is closed. */
  endings: readonly (() => Promise<void>)[]
}

/** Whether answers are checked against the document (architecture: outside production). */
export function checksResponses({ BAYAR_CHECK_RESPONSES, BAYAR_ENV }: Configuration): boolean {
  return BAYAR_CHECK_RESPONSES === 'auto' ? BAYAR_ENV !== 'production' : BAYAR_CHECK_RESPONSES === 'on'
}
