import type { Sql } from './sql.ts'

interface Part {
  owner: string
  line: string
}

/**
 * What the schemas hold, as text for the golden file generated/schema.<database>.sql: equal for equal schemas, on
 * servers 15 to 18. Takes a transaction (`readTx`), because names are only written in full while the search path
 * is empty. Objects that belong to an extension are left out, and so are roles and grants.
 */
export async function dumpSchema(sql: Sql, schemas: string[]): Promise<string> {
  await sql`select set_config('search_path', 'pg_catalog', true), set_config('timezone', 'UTC', true)`
  const [path] = await sql<{ path: string }[]>`select current_setting('search_path') as path`
  if (path?.path !== 'pg_catalog') throw new Error('dumpSchema needs a transaction')
  const relations = await readRelations(sql, schemas)
  const parts = [
    ...(await readColumns(sql, schemas)),
    ...(await readConstraints(sql, schemas)),
    ...(await readIndexes(sql, schemas)),
    ...(await readTriggers(sql, schemas)),
    ...(await readPolicies(sql, schemas)),
  ]
  const blocks = [
    ...(await readSchemas(sql, schemas)).map(({ line }) => line),
    ...(await readTypes(sql, schemas)).map(({ line }) => line),
    ...(await readSequences(sql, schemas)).map(({ line }) => line),
    ...relations.map(({ owner, line }) =>
      [line, ...parts.filter((part) => part.owner === owner).map((part) => indented(part.line))].join('\n')),
    ...(await readFunctions(sql, schemas)).map(({ line }) => line),
  ]
  return `${blocks.join('\n\n')}\n`
}

/** The schemas that the migrations made, by name: not the server's, nor the journal of migrations. */
export async function listOwnSchemas(sql: Sql): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select nspname as name from pg_namespace
    where nspname not like 'pg\\_%' and nspname not in ('information_schema', 'public', 'migrations')
    order by nspname collate "C"`
  return rows.map(({ name }) => name)
}

const indented = (text: string): string => text.split('\n').map((line) => `  ${line}`).join('\n')

// Not-null constraints have rows of their own from server 18 on; the columns say it on every version.
const listedConstraints = ['c', 'f', 'p', 'u', 'x']

function readSchemas(sql: Sql, schemas: string[]): Promise<Part[]> {
  return sql<Part[]>`
    select '' as owner,
      format('schema %I', n.nspname)
        || coalesce(E'\n  comment ' || quote_literal(obj_description(n.oid, 'pg_namespace')), '') as line
    from pg_namespace n
    where n.nspname = any(${schemas}::text[])
    order by n.nspname collate "C"`
}

function readTypes(sql: Sql, schemas: string[]): Promise<Part[]> {
  return sql<Part[]>`
    select '' as owner,
      case t.typtype
        when 'e' then format('type %I.%I enum (%s)', n.nspname, t.typname,
          (select string_agg(quote_literal(e.enumlabel), ', ' order by e.enumsortorder)
           from pg_enum e where e.enumtypid = t.oid))
        when 'd' then format('domain %I.%I %s', n.nspname, t.typname, format_type(t.typbasetype, t.typtypmod))
          || case when t.typnotnull then ' not null' else '' end
          || coalesce(' default ' || t.typdefault, '')
          || coalesce((select string_agg(format(E'\n  constraint %I %s', c.conname, pg_get_constraintdef(c.oid)), ''
                              order by c.conname collate "C")
                       from pg_constraint c where c.contypid = t.oid and c.contype = 'c'), '')
        else format('type %I.%I (%s)', n.nspname, t.typname,
          (select string_agg(format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod)), ', ' order by a.attnum)
           from pg_attribute a where a.attrelid = t.typrelid and not a.attisdropped))
      end || coalesce(E'\n  comment ' || quote_literal(obj_description(t.oid, 'pg_type')), '') as line
    from pg_type t
    join pg_namespace n on n.oid = t.typnamespace
    left join pg_class c on c.oid = t.typrelid
    where n.nspname = any(${schemas}::text[]) and (t.typtype in ('e', 'd') or c.relkind = 'c')
      and not exists (select from pg_depend x
                      where x.classid = 'pg_type'::regclass and x.objid = t.oid and x.deptype = 'e')
    order by n.nspname collate "C", t.typname collate "C"`
}

function readSequences(sql: Sql, schemas: string[]): Promise<Part[]> {
  return sql<Part[]>`
    select '' as owner,
      format('sequence %I.%I %s start %s increment %s min %s max %s cache %s', n.nspname, c.relname,
        format_type(s.seqtypid, null), s.seqstart, s.seqincrement, s.seqmin, s.seqmax, s.seqcache)
        || case when s.seqcycle then ' cycle' else '' end
        || coalesce((select format(' owned by %s.%I', d.refobjid::regclass, a.attname)
                     from pg_depend d
                     join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
                     where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype in ('a', 'i')
                       and d.refclassid = 'pg_class'::regclass), '')
        || coalesce(E'\n  comment ' || quote_literal(obj_description(c.oid, 'pg_class')), '') as line
    from pg_sequence s
    join pg_class c on c.oid = s.seqrelid
    join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any(${schemas}::text[])
    order by n.nspname collate "C", c.relname collate "C"`
}

function readRelations(sql: Sql, schemas: string[]): Promise<Part[]> {
  return sql<Part[]>`
    select c.oid::text as owner,
      format('%s %I.%I', case c.relkind when 'v' then 'view' when 'm' then 'materialized view' when 'f'
        then 'foreign table' else 'table' end, n.nspname, c.relname)
        || case c.relpersistence when 'u' then ' unlogged' else '' end
        || coalesce((select ' inherits ' || string_agg(i.inhparent::regclass::text, ', ' order by i.inhseqno)
                     from pg_inherits i where i.inhrelid = c.oid), '')
        || coalesce(' ' || pg_get_expr(c.relpartbound, c.oid), '')
        || case when c.relkind = 'p' then ' partition by ' || pg_get_partkeydef(c.oid) else '' end
        || coalesce(' with (' || (select string_agg(o, ', ' order by o collate "C") from unnest(c.reloptions) o)
             || ')', '')
        || case when c.relrowsecurity then ' row security' else '' end
        || case when c.relforcerowsecurity then ' forced' else '' end
        || coalesce(E'\n  comment ' || quote_literal(obj_description(c.oid, 'pg_class')), '')
        || case when c.relkind in ('v', 'm') then E'\n' || pg_get_viewdef(c.oid) else '' end as line
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any(${schemas}::text[]) and c.relkind in ('r', 'p', 'v', 'm', 'f')
      and not exists (select from pg_depend x
                      where x.classid = 'pg_class'::regclass and x.objid = c.oid and x.deptype = 'e')
    order by n.nspname collate "C", c.relname collate "C"`
}

function readColumns(sql: Sql, schemas: string[]): Promise<Part[]> {
  return sql<Part[]>`
    select a.attrelid::text as owner,
      format('column %I %s', a.attname, format_type(a.atttypid, a.atttypmod))
        || case when a.attcollation <> t.typcollation then ' collate ' || a.attcollation::regcollation else '' end
        || case when a.attnotnull then ' not null' else '' end
        || case a.attidentity when 'a' then ' identity always' when 'd' then ' identity by default' else '' end
        || case a.attgenerated when 's' then ' stored as ' when 'v' then ' virtual as '
             else case when d.oid is null then '' else ' default ' end end
        || coalesce(pg_get_expr(d.adbin, d.adrelid), '')
        || coalesce(E'\n  comment ' || quote_literal(col_description(a.attrelid, a.attnum)), '') as line
    from pg_attribute a
    join pg_class c on c.oid = a.attrelid
    join pg_namespace n on n.oid = c.relnamespace
    join pg_type t on t.oid = a.atttypid
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where n.nspname = any(${schemas}::text[]) and c.relkind in ('r', 'p', 'f') and a.attnum > 0 and not a.attisdropped
    order by a.attrelid, a.attnum`
}

function readConstraints(sql: Sql, schemas: string[]): Promise<Part[]> {
  return sql<Part[]>`
    select k.conrelid::text as owner,
      format('constraint %I %s', k.conname, pg_get_constraintdef(k.oid))
        || coalesce(E'\n  comment ' || quote_literal(obj_description(k.oid, 'pg_constraint')), '') as line
    from pg_constraint k
    join pg_class c on c.oid = k.conrelid
    join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any(${schemas}::text[]) and k.contype::text = any(${listedConstraints}::text[])
    order by k.conname collate "C", pg_get_constraintdef(k.oid) collate "C"`
}

function readIndexes(sql: Sql, schemas: string[]): Promise<Part[]> {
  return sql<Part[]>`
    select i.indrelid::text as owner,
      'index ' || pg_get_indexdef(i.indexrelid) || case when i.indisvalid then '' else ' INVALID' end
        || coalesce(E'\n  comment ' || quote_literal(obj_description(i.indexrelid, 'pg_class')), '') as line
    from pg_index i
    join pg_class c on c.oid = i.indrelid
    join pg_class x on x.oid = i.indexrelid
    join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any(${schemas}::text[])
      and not exists (select from pg_constraint k
                      where k.conindid = i.indexrelid and k.conrelid = i.indrelid and k.contype in ('p', 'u', 'x'))
    order by x.relname collate "C"`
}

function readTriggers(sql: Sql, schemas: string[]): Promise<Part[]> {
  return sql<Part[]>`
    select g.tgrelid::text as owner,
      'trigger ' || pg_get_triggerdef(g.oid)
        || case g.tgenabled when 'O' then '' else ' enabled ' || g.tgenabled::text end
        || coalesce(E'\n  comment ' || quote_literal(obj_description(g.oid, 'pg_trigger')), '') as line
    from pg_trigger g
    join pg_class c on c.oid = g.tgrelid
    join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any(${schemas}::text[]) and not g.tgisinternal
    order by g.tgname collate "C"`
}

function readPolicies(sql: Sql, schemas: string[]): Promise<Part[]> {
  return sql<Part[]>`
    select p.polrelid::text as owner,
      format('policy %I %s for %s', p.polname, case when p.polpermissive then 'permissive' else 'restrictive' end,
        case p.polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete'
          else 'all' end)
        || coalesce(' using (' || pg_get_expr(p.polqual, p.polrelid) || ')', '')
        || coalesce(' with check (' || pg_get_expr(p.polwithcheck, p.polrelid) || ')', '') as line
    from pg_policy p
    join pg_class c on c.oid = p.polrelid
    join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any(${schemas}::text[])
    order by p.polname collate "C"`
}

function readFunctions(sql: Sql, schemas: string[]): Promise<Part[]> {
  return sql<Part[]>`
    select '' as owner,
      rtrim(pg_get_functiondef(f.oid), E'\n')
        || coalesce(E'\n  comment ' || quote_literal(obj_description(f.oid, 'pg_proc')), '') as line
    from pg_proc f
    join pg_namespace n on n.oid = f.pronamespace
    where n.nspname = any(${schemas}::text[]) and f.prokind in ('f', 'p', 'w')
      and not exists (select from pg_depend x
                      where x.classid = 'pg_proc'::regclass and x.objid = f.oid and x.deptype = 'e')
    order by n.nspname collate "C", f.proname collate "C", pg_get_function_identity_arguments(f.oid) collate "C"`
}
