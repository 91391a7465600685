import { listMerchantIds } from '../../db/payments/merchants.ts'
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
