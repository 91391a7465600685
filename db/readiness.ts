import type { Sql } from './sql.ts'

/** Whether the server takes writes: a real transaction id is assigned, which a standby or read-only server refuses. */
export async function provesWritable(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ writable: boolean }[]>`
    select case when pg_is_in_recovery() then false else pg_current_xact_id() is not null end as writable`
  return row?.writable === true
}
