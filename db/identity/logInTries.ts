import type { Sql } from '../sql.ts'

/**
 * Counts a try of an account, unless `most` were made after `since`. One statement: the row lock orders the tries of
 * all processes, so that no two of them take the last one. False when none was left; such a try does not count.
 */
export async function takeLogInTry(sql: Sql, account: Buffer, most: number, since: Date, now: Date): Promise<boolean> {
  const rows = await sql`
    insert into identity.log_in_tries as t (account, tried_at, last_tried_at)
    values (${account}, array[${now}::timestamptz], ${now})
    on conflict (account) do update
    set tried_at = array(select tried from unnest(t.tried_at) tried where tried > ${since}) || ${now}::timestamptz,
      last_tried_at = ${now}
    where (select count(*) from unnest(t.tried_at) tried where tried > ${since}) < ${most}
    returning account`
  return rows.length === 1
}

/** The oldest try of an account after `since`: as it leaves the window, a try is free again. */
export async function findOldestLogInTry(sql: Sql, account: Buffer, since: Date): Promise<Date | null> {
  const [row] = await sql<{ oldest: Date | null }[]>`
    select (select min(tried) from unnest(t.tried_at) tried where tried > ${since}) as oldest
    from identity.log_in_tries t where t.account = ${account}`
  return row?.oldest ?? null
}

/** Forgets accounts not tried after `before`, at most `most`; those that another request forgets are left to it. */
export async function purgeLogInTries(sql: Sql, before: Date, most: number): Promise<void> {
  await sql`
    delete from identity.log_in_tries where account in (
      select account from identity.log_in_tries where last_tried_at < ${before} order by last_tried_at limit ${most}
      for update skip locked)`
}
