import { isObject } from '../readJson.ts'
import { integer, invalid } from './chargeRequest.ts'

/** How a callback is signed, and what each form is good for. */
export const signatureForms = {
  right: 'Signed under the secret, now.',
  'wrong-secret': 'Signed under another secret.',
  stale: 'Signed rightly, an hour ago.',
  missing: 'No signature at all.',
  malformed: 'A signature that is none.',
  'altered-body': 'Signed rightly, and the amount changed afterwards.',
} as const

export type SignatureForm = keyof typeof signatureForms

/** How a callback is told; the plain way is true, once, and signed rightly. */
export interface Telling {
  /** Nothing is told. */
  readonly silent: boolean
  /** Members of the body that are set otherwise than is true. */
  readonly says: Readonly<Record<string, unknown>>
  /** Members of the body that are left out. */
  readonly without: readonly string[]
  readonly signature: SignatureForm
  /** Sent in place of the JSON, signed as `signature` says. */
  readonly body: string | null
  /** How often it is sent, all at once, under the same event id. */
  readonly repeat: number
}

/** What the members of a telling mean. */
export const tellingMembers = {
  says: 'Object: members of the body as they shall be, true or not; see the callback\'s body below.',
  without: 'List: members of the body that are left out, such as `event_id` or `payer`.',
  signature: `One of ${Object.keys(signatureForms).map((form) => `\`${form}\``).join(', ')}; \`right\` unless told.`,
  body: 'Text that is sent in place of the JSON.',
  repeat: 'How often it is sent, all at once and under the same event id; 1 unless told.',
} as const

export const plainly: Telling = { silent: false, says: {}, without: [], signature: 'right', body: null, repeat: 1 }
export const silently: Telling = { ...plainly, silent: true }

/** Reads the member `callback` of a move: null is silence, absence the plain way. Throws a Refusal (400). */
export function readTelling(value: unknown): Telling {
  if (value === undefined) return plainly
  if (value === null) return silently
  if (!isObject(value)) throw invalid('callback must be an object or null')
  const stranger = Object.keys(value).find((name) => !Object.hasOwn(tellingMembers, name))
  if (stranger !== undefined) throw invalid(`callback has no member ${stranger}`)
  const { says = {}, without = [], signature = 'right', body = null } = value
  if (!isObject(says)) throw invalid('says must be an object')
  if (!Array.isArray(without) || !without.every((name) => typeof name === 'string')) throw invalid('without must be a list of names')
  if (typeof signature !== 'string' || !isSignatureForm(signature)) throw invalid('signature is not one that the simulator knows')
  if (body !== null && typeof body !== 'string') throw invalid('body must be text')
  return { silent: false, says, without, signature, body, repeat: integer(value, 'repeat', [1, 100], 1) }
}

function isSignatureForm(value: string): value is SignatureForm {
  return Object.hasOwn(signatureForms, value)
}
