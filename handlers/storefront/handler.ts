import type { operations } from '../../generated/storefront.ts'
import type { ErrorCodes, Transactions } from '../../generated/storefront.rules.ts'
import type { HandlerOf } from '../http/handler.ts'

/** What the handlers of this service share. */
export interface StorefrontApp {
  /** True once the process was told to end. */
  isDraining(): boolean
}

/** A handler of the storefront document; statuses and codes that its operation does not declare do not compile. */
export type Handler<Id extends keyof operations> = HandlerOf<operations, ErrorCodes, Transactions, StorefrontApp, Id>
