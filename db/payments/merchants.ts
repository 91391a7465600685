import type { Sql } from '../sql.ts'

export interface MerchantRow {
  id: string
  tenant_id: string
  name: string
  status: 'draft' | 'submitted' | 'approved' | 'rejected'
  city: string
  postal_code: string
  category_code: string
  national_merchant_id: string
  app_schemes: string[]
  /** Codes of the channels that are on. */
  channels: string[]
}

/** A merchant with the channels that are switched on for it. */
export async function findMerchant(sql: Sql, tenantId: string, id: string): Promise<MerchantRow | undefined> {
  const [row] = await sql<MerchantRow[]>`
    select m.id, m.tenant_id, m.name, m.status, m.city, m.postal_code, m.category_code, m.national_merchant_id, m.app_schemes,
      array(select c.channel from payments.merchant_channels c
        where c.tenant_id = m.tenant_id and c.merchant_id = m.id and c.enabled) as channels
    from payments.merchants m
    where m.tenant_id = ${tenantId} and m.id = ${id}`
  return row
}

/** Ids of the merchants of a tenant, at most `most`: enough to tell whether a caller has only one. */
export async function listMerchantIds(sql: Sql, tenantId: string, most: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`select id from payments.merchants where tenant_id = ${tenantId} order by id limit ${most}`
  return rows.map(({ id }) => id)
}

export interface NewMerchant {
  id: string
  tenantId: string
  name: string
  status: MerchantRow['status']
  city: string
  postalCode: string
  categoryCode: string
  nationalMerchantId: string
  appSchemes: readonly string[]
  createdAt: Date
}

export async function insertMerchant(sql: Sql, merchant: NewMerchant): Promise<void> {
  await sql`
    insert into payments.merchants
      (id, tenant_id, name, status, city, postal_code, category_code, national_merchant_id, app_schemes, created_at)
    values (${merchant.id}, ${merchant.tenantId}, ${merchant.name}, ${merchant.status}, ${merchant.city}, ${merchant.postalCode},
      ${merchant.categoryCode}, ${merchant.nationalMerchantId}, ${merchant.appSchemes as string[]}, ${merchant.createdAt})`
}

/** Switches a channel of a merchant on or off. */
export async function putMerchantChannel(sql: Sql, tenantId: string, merchantId: string, channel: string, enabled: boolean): Promise<void> {
  await sql`
    insert into payments.merchant_channels (tenant_id, merchant_id, channel, enabled)
    values (${tenantId}, ${merchantId}, ${channel}, ${enabled})
    on conflict (merchant_id, channel) do update set enabled = excluded.enabled
    where merchant_channels.tenant_id = excluded.tenant_id`
}

/** Whether the merchant has this stored customer. */
export async function hasCustomer(sql: Sql, tenantId: string, merchantId: string, id: string): Promise<boolean> {
  const rows = await sql`
    select from payments.customers where tenant_id = ${tenantId} and merchant_id = ${merchantId} and id = ${id}`
  return rows.length === 1
}

export async function insertCustomer(
  sql: Sql, tenantId: string, merchantId: string, customer: { id: string, name: string | null, email: string | null, phone: string | null }, now: Date,
): Promise<void> {
  await sql`
    insert into payments.customers (id, tenant_id, merchant_id, name, email, phone, created_at)
    values (${customer.id}, ${tenantId}, ${merchantId}, ${customer.name}, ${customer.email}, ${customer.phone}, ${now})`
}
