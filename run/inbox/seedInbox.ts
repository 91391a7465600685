import { newId } from '../../db/ids.ts'
import {
  activateWebhookSubscription, deleteWebhookSubscription, findWebhookSubscription, insertWebhookSubscription, listWebhookSubscriptions,
  updateWebhookSubscription,
} from '../../db/payments/webhookSubscriptions.ts'
import type { WebhookSubscriptionRow } from '../../db/payments/webhookSubscriptions.ts'
import type { Sql } from '../../db/sql.ts'
import type { Runtime } from '../../domain/runtime.ts'
import type { SealingKeys } from '../../domain/sealing.ts'
import { eventKinds } from '../../domain/webhookEvents.ts'
import { newWebhookSecret, sealWebhookSecret, webhookSecretIdentity } from '../../domain/webhookSecrets.ts'

/** The subscription of the inbox, as a run keeps it. */
export interface InboxSubscription {
  id: string
  secret: string
}

export interface InboxSeed {
  tenantId: string
  merchantId: string
  /** Address of the receiver in this run. */
  url: string
  /** That of an earlier run; null makes a new one. */
  known: InboxSubscription | null
  sealing: SealingKeys
  runtime: Pick<Runtime, 'now' | 'randomBytes'>
}

/** By this the subscriptions of earlier runs are known. */
const description = 'Inbox of the development run'
const mostLeftOver = 100

/**
 * Subscribes the run's receiver to every kind of event of the demo merchant, in the caller's transaction. The one of an
 * earlier run is kept and pointed at the present address; one that failures disabled is made active, one that a person paused is not. What
 * other runs left on this database is deleted: nobody has its secret.
 */
export async function seedInbox(sql: Sql, seed: InboxSeed): Promise<InboxSubscription> {
  const { known, merchantId, runtime, sealing, tenantId, url } = seed
  const scope = { tenantId, merchantIds: [merchantId] }
  const row = known ? await findWebhookSubscription(sql, scope, known.id) : undefined
  const kept = row && known && opens(row, known, sealing) ? { row, known } : undefined
  const { rows } = await listWebhookSubscriptions(sql, scope, { search: description, limit: mostLeftOver, offset: 0 })
  for (const other of rows) {
    if (other.description === description && other.id !== kept?.row.id) await deleteWebhookSubscription(sql, other, runtime.now())
  }
  if (kept) {
    await updateWebhookSubscription(sql, kept.row, { url, description, events: eventKinds })
    if (kept.row.disabled_reason === 'failures') await activateWebhookSubscription(sql, kept.row)
    return kept.known
  }
  const [id, secret] = [newId(runtime), newWebhookSecret(runtime)]
  await insertWebhookSubscription(sql, {
    id, tenantId, merchantId, url, description, events: eventKinds, createdAt: runtime.now(),
    secret: sealWebhookSecret(secret, id, sealing, runtime),
  })
  return { id, secret }
}

/** Whether the row signs with the secret that is known: it may have been rotated, or sealed under other keys. */
function opens({ id, secret }: WebhookSubscriptionRow, known: InboxSubscription, sealing: SealingKeys): boolean {
  try {
    return sealing.open(secret, webhookSecretIdentity(id)).toString() === known.secret
  } catch {
    return false
  }
}
