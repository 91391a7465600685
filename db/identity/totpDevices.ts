import type { Sql } from '../sql.ts'

/** The sealed seed of a user's confirmed authenticator. */
export async function findTotpSeed(sql: Sql, userId: string): Promise<Buffer | undefined> {
  const [row] = await sql<{ seed: Buffer }[]>`
    select seed from identity.totp_devices where user_id = ${userId} and confirmed_at is not null`
  return row?.seed
}

/** Uses a code up, and every older one with it. False when it or a newer one was used before (RFC 6238, 5.2). */
export async function useTotpStep(sql: Sql, userId: string, step: number): Promise<boolean> {
  const rows = await sql`
    update identity.totp_devices set last_step = ${step}
    where user_id = ${userId} and confirmed_at is not null and last_step < ${step}
    returning user_id`
  return rows.length === 1
}

/** Gives a user a confirmed authenticator in place of any it has. */
export async function putTotpDevice(sql: Sql, userId: string, seed: Buffer, now: Date): Promise<void> {
  await sql`
    insert into identity.totp_devices (user_id, seed, confirmed_at, created_at)
    values (${userId}, ${seed}, ${now}, ${now})
    on conflict (user_id) do update set seed = excluded.seed, last_step = 0,
      confirmed_at = excluded.confirmed_at, created_at = excluded.created_at`
}
