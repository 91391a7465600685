/** An int8 as a number. Throws RangeError beyond 2^53 - 1, where a number would lie. */
function safeInteger(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${text} does not fit a number exactly`)
  return value
}

// The job queue binds JSON it has already written as text; writing it again would make a JSON string of it.
const json = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

// Days have no time zone: as a Date they would shift by one when printed east or west of here.
const day = (value: unknown): string => (value instanceof Date ? value.toISOString().slice(0, 10) : String(value))

const moment = (value: unknown): string => (value instanceof Date ? value.toISOString() : String(value))

function arrayText(values: unknown, element: (value: unknown) => string): string {
  if (!Array.isArray(values)) return String(values)
  const items = values.map((value) => {
    if (value === null) return 'null'
    if (value === undefined || Array.isArray(value)) throw new TypeError('arrays hold single values, or null')
    return `"${element(value).replace(/[\\"]/g, '\\$&')}"`
  })
  return `{${items.join(',')}}`
}

function arrayValues<T>(text: string, element: (text: string) => T): (T | null)[] {
  if (!/^\{([^{"]|"(\\.|[^"\\])*")*\}$/s.test(text)) throw new TypeError('only one-dimensional arrays are read')
  const values: (T | null)[] = []
  for (const [, quoted, bare] of text.slice(1, -1).matchAll(/"((?:\\.|[^"\\])*)"|([^,]+)/gs)) {
    if (quoted !== undefined) values.push(element(quoted.replace(/\\(.)/gs, '$1')))
    else values.push(bare === 'NULL' ? null : element(bare ?? ''))
  }
  return values
}

interface ColumnType {
  to: number
  from: number[]
  serialize: (value: never) => string
  parse: (text: string) => unknown
}

function arrayOf(oid: number, write: (value: unknown) => string, read: (text: string) => unknown): ColumnType {
  return {
    to: oid,
    from: [oid],
    serialize: (values: unknown) => arrayText(values, write),
    parse: (text) => arrayValues(text, read),
  }
}

/**
 * How values travel, by type number of pg_type. The driver's own lookup of array types costs a request per
 * connection and dies with it, so the arrays in use are listed here. numeric arrives as text, on purpose.
 */
export const columnTypes: Record<string, ColumnType> = {
  int8: { to: 20, from: [20], serialize: String, parse: safeInteger },
  json: { to: 114, from: [114, 3802], serialize: json, parse: (text) => JSON.parse(text) as unknown },
  day: { to: 1082, from: [1082], serialize: day, parse: (text) => text },
  moment: { to: 1184, from: [1184], serialize: moment, parse: (text) => new Date(text) },
  textArray: arrayOf(1009, String, String),
  varcharArray: arrayOf(1015, String, String),
  uuidArray: arrayOf(2951, String, String),
  int2Array: arrayOf(1005, String, Number),
  int4Array: arrayOf(1007, String, Number),
  int8Array: arrayOf(1016, String, safeInteger),
  numericArray: arrayOf(1231, String, String),
  booleanArray: arrayOf(1000, String, (text) => text === 't'),
  momentArray: arrayOf(1185, moment, (text) => new Date(text)),
  jsonbArray: arrayOf(3807, json, (text) => JSON.parse(text) as unknown),
}
