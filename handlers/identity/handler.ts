import type { operations } from '../../generated/identity.ts'
import type { ErrorCodes, Transactions } from '../../generated/identity.rules.ts'
import type { Configuration } from '../../domain/configuration.ts'
import type { Passwords } from '../../domain/passwords.ts'
import type { SealingKeys } from '../../domain/sealing.ts'
import type { HandlerOf } from '../http/handler.ts'
import type { SigningKeys } from './signingKeys.ts'
import type { TokenIssuer } from './tokenIssuer.ts'

/** What the handlers of this service share. */
export interface IdentityApp {
  configuration: Configuration
  sealing: SealingKeys
  passwords: Passwords
  signingKeys: SigningKeys
  issuer: TokenIssuer
}

/** A handler of the identity document; statuses and codes that its operation does not declare do not compile. */
export type Handler<Id extends keyof operations> = HandlerOf<operations, ErrorCodes, Transactions, IdentityApp, Id>
