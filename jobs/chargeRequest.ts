import type { MerchantRow } from '../db/payments/merchants.ts'
import type { NewPaymentAttempt } from '../db/payments/paymentAttempts.ts'
import type { PaymentIntentRow } from '../db/payments/paymentIntents.ts'
import type { NewProviderOperation } from '../db/payments/providerOperations.ts'
import { newId } from '../db/ids.ts'
import { channelOf } from '../domain/channels.ts'
import type { ChannelCode } from '../domain/channels.ts'
import { firstCheckAt } from '../domain/checkSchedule.ts'
import type { ChargeRequest } from '../providers/paymentProvider.ts'
import { chargeDeadline } from '../providers/servedChannels.ts'
import type { CreationSettings } from './chargeCreation.ts'
import { chargingProvider } from './providerCharges.ts'

/** A charge that is about to be asked for. */
export interface PlannedCharge {
  /** Id of the operation, which is the key that is sent. */
  operationId: string
  attemptId: string
  provider: string
  channel: ChannelCode
  now: Date
}

type Made = 'recovery_point' | 'holders'
/** The operation as its first holder has it. */
export type StartedOperation = NewProviderOperation & { [Member in Made]: Member extends 'holders' ? number : 'started' }

/** The operation row of a charge, with the request as it will be sent, again and again the same (decision 3.3). */
export function startedOperation(
  kind: NewProviderOperation['kind'], intent: PaymentIntentRow, merchant: MerchantRow, planned: PlannedCharge,
  { requestId, idempotency }: { requestId: string, idempotency?: { operationId: string, key: string } | undefined }, settings: CreationSettings,
): StartedOperation {
  const { operationId, attemptId, provider, now } = planned
  return {
    id: operationId, tenant_id: intent.tenant_id, merchant_id: intent.merchant_id, kind, intent_id: intent.id, attempt_id: attemptId, provider,
    request: JSON.parse(JSON.stringify(chargeRequest(intent, merchant, planned, settings))) as unknown,
    recovery_point: 'started', lease_token: newId(settings.runtime), holders: 1, api_key_id: null,
    idempotency_operation: idempotency?.operationId ?? null, idempotency_key: idempotency?.key ?? null, request_id: requestId, created_at: now,
  }
}

function chargeRequest(
  intent: PaymentIntentRow, merchant: MerchantRow, { operationId, provider, channel, now }: PlannedCharge, settings: CreationSettings,
): ChargeRequest {
  return {
    key: operationId,
    channel,
    amountIdr: intent.amount_idr,
    // Elsewhere each payer has a charge of their own (decision 3.4).
    multiUse: intent.max_uses !== 1 && channelOf(channel).standing_attempt,
    expiresAt: chargeDeadline(channel, intent.max_uses, now, intent.intent_expires_at, chargingProvider(settings)),
    description: intent.description,
    merchantReference: intent.reference_id,
    merchant: {
      id: merchant.id, name: merchant.name, city: merchant.city, postalCode: merchant.postal_code, mcc: merchant.category_code,
      nmid: merchant.national_merchant_id, qrisCriteria: null,
    },
    customer: intent.customer && Object.fromEntries(Object.entries(intent.customer).filter(([, value]) => value !== null)),
    callbackUrl: settings.callbackUrl(provider),
    returnUrl: intent.channel === null ? `${settings.views.baseUrl}/pay/${intent.shortcode}` : null,
  }
}

/** The attempt of a charge; `provider` and `operationId` are null on a channel that nobody outside makes a charge for. */
export function newAttempt(
  intent: PaymentIntentRow,
  { attemptId, operationId, provider, channel, now }: Omit<PlannedCharge, 'operationId' | 'provider'> & { operationId: string | null, provider: string | null },
  settings: Pick<CreationSettings, 'provider' | 'providers'>,
): NewPaymentAttempt {
  const expiresAt = chargeDeadline(channel, intent.max_uses, now, intent.intent_expires_at, provider === null ? null : chargingProvider(settings))
  return {
    id: attemptId, tenant_id: intent.tenant_id, merchant_id: intent.merchant_id, intent_id: intent.id, channel, amount_idr: intent.amount_idr,
    standing: intent.max_uses !== 1 && channelOf(channel).standing_attempt, provider, provider_key: operationId,
    expires_at: expiresAt, created_at: now,
    next_check_at: provider === null ? null : firstCheckAt({ id: attemptId, created_at: now, expires_at: expiresAt }),
  }
}
