import { findMerchant, listMerchantIds } from '../../db/payments/merchants.ts'
import type { Scope } from '../../db/payments/paymentIntents.ts'
import type { Sql } from '../../db/sql.ts'
import type { Reach } from '../http/caller.ts'
import type { Fail } from '../http/handler.ts'

/** The merchant of a caller that names none: its only one (decision 5.5), else 400 on merchant_id. */
export async function soleMerchant(sql: Sql, { tenantId, merchantIds }: Reach, fail: Fail<'validation_failed'>): Promise<string> {
  const ids = merchantIds ?? await listMerchantIds(sql, tenantId, 2)
  const [only] = ids
  if (only === undefined || ids.length > 1) {
    return fail('validation_failed', { fields: { merchant_id: 'is required, since you have several merchants or none' } })
  }
  return only
}

/** The merchant that a creating console operation is for (decision 5.5): the one named, within reach, else the only one. */
export async function addressedMerchant(
  sql: Sql, reach: Reach, named: string | undefined, fail: Fail<'validation_failed' | 'not_found'>,
): Promise<string> {
  if (named === undefined) return soleMerchant(sql, reach, fail)
  await assertWithinReach(sql, reach, named, fail)
  return named
}

/** The rows that a list shows: all within reach, or those of the merchant that is named. */
export async function listScope(sql: Sql, reach: Reach, named: string | undefined, fail: Fail<'not_found'>): Promise<Scope> {
  if (named === undefined) return reach
  await assertWithinReach(sql, reach, named, fail)
  return { tenantId: reach.tenantId, merchantIds: [named] }
}

async function assertWithinReach(sql: Sql, { tenantId, merchantIds }: Reach, named: string, fail: Fail<'not_found'>): Promise<void> {
  const reachable = merchantIds === null ? await findMerchant(sql, tenantId, named) !== undefined : merchantIds.includes(named)
  if (!reachable) fail('not_found')
}
