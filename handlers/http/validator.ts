import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import type { ErrorObject } from 'ajv'

/** The formats that the documents may name, beside openapi-backend's own. */
const formats = ['date-time', 'date', 'time', 'email', 'uri', 'hostname', 'ipv4', 'ipv6'] as const

/** As identifiers are written here. The usual format also takes `urn:uuid:` and upper case, which compare unequal to what is stored. */
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

const contexts = new Map<string, Ajv>()

/** Options of every OpenAPIBackend: checked by lint already, one Ajv for each context, our keywords. */
export const validatorOptions = {
  quick: true,
  strict: true,
  coerceTypes: true,
  customizeAjv: (_original: unknown, _options: unknown, context?: unknown) => ajvFor(String(context)) as never,
}

function ajvFor(context: string): Ajv {
  let ajv = contexts.get(context)
  if (!ajv) {
    const isParams = context === 'paramsValidator'
    ajv = new Ajv({ strict: false, allErrors: true, discriminator: true, ...(isParams && { coerceTypes: true, useDefaults: true }) })
    ;(addFormats as unknown as (ajv: Ajv, names: readonly string[]) => void)(ajv, formats)
    ajv.addFormat('int64', { type: 'number', validate: (value: number) => Number.isSafeInteger(value) })
    ajv.addFormat('int32', { type: 'number', validate: (value: number) => Number.isInteger(value) && Math.abs(value) < 2 ** 31 })
    ajv.addFormat('uuid', uuid)
    const dateTime = ajv.formats['date-time'] as { validate: (text: string) => boolean }
    ajv.addFormat('date-time', (text: string) => dateTime.validate(text) && isCalendarTime(text))
    ajv.addFormat('binary', true)
    ajv.addFormat('password', true)
    addKeywords(ajv, isParams)
    contexts.set(context, ajv)
  }
  return ajv
}

/**
 * Whether Date and PostgreSQL take the time for what it says. RFC 3339 knows a second 60, a year 0 and times that fall
 * into the year 10000 in UTC, and Date reads the year 50 as 1950 where a blank stands for the T.
 */
function isCalendarTime(text: string): boolean {
  const year = new Date(text).getUTCFullYear()
  return year >= 1 && year <= 9999 && Math.abs(year - Number(text.slice(0, 4))) <= 1
}

/** Whether anything checks the format: Ajv passes over one that it does not know. */
export function isKnownFormat(name: string): boolean {
  return ajvFor('requestBodyValidator').formats[name] !== undefined
}

function addKeywords(ajv: Ajv, isParams: boolean): void {
  if (isParams) {
    ajv.addKeyword({
      keyword: 'x-clamp', type: 'number', schemaType: 'array', modifying: true,
      compile: ([low, high]: [number, number]) => (value: number, at?: { parentData: Record<string | number, unknown>, parentDataProperty: string | number }) => {
        if (at) at.parentData[at.parentDataProperty] = Math.min(high, Math.max(low, value))
        return true
      },
    })
  }
  ajv.addKeyword({
    keyword: 'x-max-bytes', type: 'object', schemaType: 'number',
    error: { message: (cxt) => `must be at most ${String(cxt.schema)} bytes as JSON` },
    validate: (most: number, value: unknown) => Buffer.byteLength(JSON.stringify(value)) <= most,
  })
  ajv.addKeyword({
    keyword: 'x-key-length', type: 'object', schemaType: 'array',
    error: { message: (cxt) => `must have keys of ${String((cxt.schema as number[])[0])} to ${String((cxt.schema as number[])[1])} characters` },
    validate: ([shortest, longest]: [number, number], value: object) =>
      Object.keys(value).every((key) => charactersOf(key) >= shortest && charactersOf(key) <= longest),
  })
}

/** Characters as maxLength counts them: a character outside the basic plane is one. */
function charactersOf(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}

/** Says in words what is wrong with a value. Never repeats the value. */
export function reasonOf(error: ErrorObject): string {
  const params = error.params as Record<string, unknown>
  switch (error.keyword) {
    case 'required': return 'is required'
    case 'additionalProperties': return 'is not known'
    case 'type': return `must be ${article(String(params.type))}`
    case 'enum': return `must be one of ${(params.allowedValues as unknown[]).map(String).join(', ')}`
    case 'format': return `must be a valid ${String(params.format)}`
    case 'pattern': return `must match ${String(params.pattern)}`
    case 'maxLength': return `must be at most ${String(params.limit)} characters`
    case 'minLength': return `must be at least ${String(params.limit)} ${params.limit === 1 ? 'character' : 'characters'}`
    case 'maxItems': return `must have at most ${String(params.limit)} entries`
    case 'minItems': return `must have at least ${String(params.limit)} ${params.limit === 1 ? 'entry' : 'entries'}`
    case 'maxProperties': return `must have at most ${String(params.limit)} keys`
    case 'minProperties': return `must have at least ${String(params.limit)} ${params.limit === 1 ? 'member' : 'members'}`
    case 'uniqueItems': return 'must not repeat an entry'
    case 'minimum': return `must be at least ${String(params.limit)}`
    case 'maximum': return `must be at most ${String(params.limit)}`
    default: return error.message ?? 'is not valid'
  }
}

function article(type: string): string {
  const word = { integer: 'a whole number', array: 'a list', object: 'an object', boolean: 'true or false', string: 'text', number: 'a number' }[type]
  return word ?? type.replace(',', ' or ')
}
