import type { operations } from '../../generated/payments.ts'
import type { ErrorCodes, Transactions } from '../../generated/payments.rules.ts'
import type { Configuration } from '../../domain/configuration.ts'
import type { ViewSettings } from '../../domain/paymentIntentView.ts'
import type { SealingKeys } from '../../domain/sealing.ts'
import type { CreationSettings } from '../../jobs/chargeCreation.ts'
import type { IdempotentReplies } from '../../jobs/idempotentReplies.ts'
import type { PromptCallbacks } from '../../jobs/promptCallbacks.ts'
import type { PaymentProvider } from '../../providers/paymentProvider.ts'
import type { TenantDirectory } from '../../providers/tenantDirectory.ts'
import type { WebhookSender } from '../../providers/webhookSender.ts'
import type { HandlerOf } from '../http/handler.ts'
import type { Brands } from './brands.ts'

/** What the handlers of this service share. */
export interface PaymentsApp {
  configuration: Configuration
  views: ViewSettings
  sealing: SealingKeys
  replies: IdempotentReplies
  /** By the name that operation rows carry. */
  providers: ReadonlyMap<string, PaymentProvider>
  creation: CreationSettings
  callbacks: PromptCallbacks
  tenants: TenantDirectory
  brands: Brands
  /** For test fires; deliveries are the worker's. */
  webhooks: WebhookSender
  /** True once the process was told to end. */
  isDraining(): boolean
}

/** A handler of the payments document; statuses and codes that its operation does not declare do not compile. */
export type Handler<Id extends keyof operations> = HandlerOf<operations, ErrorCodes, Transactions, PaymentsApp, Id>
