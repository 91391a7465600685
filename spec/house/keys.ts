import { catalogue } from './http.ts'

/** Says what is wrong with the value of a key, or nothing. */
type Check = (value: unknown) => string | undefined

const oneOf = (...allowed: unknown[]): Check => (value) =>
  allowed.includes(value) ? undefined : `must be ${allowed.map(String).join(' or ')}`

const isWord = (value: unknown): boolean => typeof value === 'string' && /^[a-z][a-z0-9_]*$/.test(value)

const listOf = (what: string, test: (entry: unknown) => boolean): Check => (value) => {
  if (!Array.isArray(value) || value.length === 0) return `must be a list of ${what}`
  const wrong = value.find((entry) => !test(entry))
  if (wrong !== undefined) return `${String(wrong)}: must be a list of ${what}`
  return new Set(value).size < value.length ? 'must not name anything twice' : undefined
}

const isCode = (value: unknown): boolean => typeof value === 'string' && Object.hasOwn(catalogue, value)

const range: Check = (value) =>
  Array.isArray(value) && value.length === 2 && value.every(Number.isSafeInteger) && value[0] <= value[1]
    ? undefined : 'must be [low, high], whole numbers in this order'

const positive: Check = (value) =>
  Number.isSafeInteger(value) && (value as number) > 0 ? undefined : 'must be a whole number above 0'

const KEYWORDS = [
  'type', 'required', 'enum', 'format', 'pattern', 'minLength', 'maxLength', 'minimum', 'maximum', 'multipleOf',
  'minItems', 'maxItems', 'uniqueItems', 'minProperties', 'maxProperties', 'additionalProperties', 'oneOf',
  'discriminator', 'x-max-bytes', 'x-key-length',
]

const errorOfSchema: Check = (value) => {
  if (typeof value === 'string') return isCode(value) ? undefined : `${value} is not in spec/http/error-codes.yaml`
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    return 'must be a code, or a map from keyword to code'
  }
  for (const [keyword, code] of Object.entries(value)) {
    if (!KEYWORDS.includes(keyword)) return `${keyword} is not a keyword that can fail`
    if (!isCode(code)) return `${String(code)} is not in spec/http/error-codes.yaml`
  }
  return undefined
}

export const FEATURES = ['shipping', 'promos', 'buyer_accounts', 'wishlist', 'reviews']

/** The keys that `spec/README.md` knows, by the type of node they may stand on. `x-caller` has a rule of its own. */
export const KEYS: Record<string, Record<string, Check>> = {
  Operation: {
    'x-caller': () => undefined,
    'x-environment': oneOf('sandbox'),
    'x-module': (value) => isWord(value) ? undefined : 'must be the name of a module',
    'x-step-up': oneOf(true),
    'x-rate-limit': oneOf('caller', 'address', 'client', 'none'),
    'x-idempotency': oneOf('optional'),
    'x-feature': oneOf(...FEATURES),
    'x-when-closed': oneOf('refuse'),
    'x-captcha': oneOf(true),
    'x-transaction': oneOf('none', 'query', 'read', 'write', 'two-step'),
    'x-body': oneOf('ignored', 'raw'),
    'x-max-body': positive,
    'x-cors': oneOf('open'),
    'x-ignored-query': listOf('names of query parameters', (entry) => typeof entry === 'string' && entry !== ''),
    'x-errors': listOf('codes of spec/http/error-codes.yaml', isCode),
  },
  Schema: {
    'x-clamp': range,
    'x-error': errorOfSchema,
    'x-max-bytes': positive,
    'x-key-length': range,
    'x-secret': oneOf(true),
  },
  Root: {
    'x-service': oneOf('payments', 'storefront', 'identity'),
    'x-webhooks': () => undefined,
  },
}
