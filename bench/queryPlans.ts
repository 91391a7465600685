import { withFreshPlan } from '../db/sql.ts'
import type { Row, Sql, Statement } from '../db/sql.ts'

/** A node of EXPLAIN (FORMAT JSON). */
interface PlanNode {
  'Node Type': string
  'Subplan Name'?: string
  'Scan Direction'?: string
  'Index Name'?: string
  'Relation Name'?: string
  'CTE Name'?: string
  'Partial Mode'?: string
  'Plans'?: PlanNode[]
}

/**
 * Runs statements as `sql` does, and writes into `plans` the plan of each before it is run: a line for each node, with
 * the index or table it reads.
 */
export function explaining(sql: Sql, plans: string[]): Sql {
  const run = (template: TemplateStringsArray, ...values: unknown[]): unknown => {
    if (!Array.isArray(template)) return (sql as (...all: unknown[]) => unknown)(template, ...values)
    const write = () => (sql as (...all: unknown[]) => Statement<Row[]>)(template, ...values)
    const statement = write()
    const { then } = statement
    const explained = async (): Promise<Row[]> => {
      if (!/^\s*select set_config/.test(template[0] ?? '')) plans.push(await explain(sql, write()))
      return new Promise((resolve, reject) => void then.call(statement, resolve, reject))
    }
    let running: Promise<Row[]> | undefined
    // Only what is awaited is a statement, the rest are pieces of one; and the driver looks on at a statement's end.
    return Object.defineProperty(statement, 'then', { value: (done: (rows: Row[]) => unknown, failed: () => unknown) => (running ??= explained()).then(done, failed) })
  }
  return Object.assign(run, { unsafe: sql.unsafe, json: sql.json }) as unknown as Sql
}

/** What the plans in a text read of tables and indexes, and how, each once: `Index Scan on payment_intents_pkey`. */
export function readsIn(plans: string): string[] {
  return [...new Set(plans.split('\n').flatMap((line) => /(?:Index|Index Only|Bitmap Index|Bitmap Heap|Seq) Scan(?: backward)? on \S+/.exec(line)?.[0] ?? []))]
}

async function explain(sql: Sql, statement: Statement<Row[]>): Promise<string> {
  const [row] = await withFreshPlan(sql<{ 'QUERY PLAN': [{ Plan: PlanNode }] }[]>`explain (format json, costs off) ${statement}`)
  if (!row) throw new Error('no plan')
  return linesOf(row['QUERY PLAN'][0].Plan, 0).join('\n')
}

/** What a node reads whose half is done by several processes. */
function belowPartial(node: PlanNode): PlanNode[] {
  const inner = node.Plans ?? []
  return node['Partial Mode'] === 'Partial' ? inner : inner.flatMap(belowPartial)
}

function linesOf(node: PlanNode, depth: number): string[] {
  const [only] = node.Plans ?? []
  // Whether several processes share in a node depends on how much there is to read.
  if (only && /^Gather/.test(node['Node Type'])) return linesOf({ ...only, ...node['Subplan Name'] !== undefined && { 'Subplan Name': node['Subplan Name'] } }, depth)
  if (only && node['Partial Mode'] === 'Finalize') return linesOf({ ...node, 'Partial Mode': 'Simple', 'Plans': belowPartial(only) }, depth)
  const backward = node['Scan Direction'] === 'Backward' ? ' backward' : ''
  const read = node['Index Name'] ?? node['Relation Name'] ?? node['CTE Name']
  // Before server 17 it says what it returns.
  const name = node['Subplan Name'] === undefined ? '' : `${node['Subplan Name'].replace(/ \(returns .*\)$/, '')}: `
  return [`${'  '.repeat(depth)}${name}${node['Node Type']}${backward}${read === undefined ? '' : ` on ${read}`}`, ...(node.Plans ?? []).flatMap((inner) => linesOf(inner, depth + 1))]
}
