import { scrypt, timingSafeEqual } from 'node:crypto'
import { ApiError } from './apiError.ts'
import type { Runtime } from './runtime.ts'

/** Hashes and verifies passwords, a few at a time. */
export interface Passwords {
  /** A new hash with its salt and parameters in it. */
  hash(password: string): Promise<string>
  /**
   * Whether the password has this hash; null is the hash of nobody: the same work, always false. Throws 503
   * `unavailable` when too many are waiting.
   */
  verify(password: string, hash: string | null): Promise<boolean>
}

export interface PasswordLimits {
  /** Most at a time. Each takes 32 MiB and one of the process's four worker threads, which files and DNS need too. */
  atOnce?: number
  /** Most that wait; what comes after is refused, since it would not be answered in time. */
  waiting?: number
}

interface Parameters {
  /** Binary logarithm of the cost. */
  ln: number
  r: number
  p: number
}

// One of the equal strengths of OWASP's Password Storage Cheat Sheet.
const present: Parameters = { ln: 15, r: 8, p: 3 }
const saltLength = 16
const hashLength = 32
const form = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/

/** Passwords by scrypt (RFC 7914). Hashes are PHC strings: `$scrypt$ln=15,r=8,p=3$<salt>$<hash>`, base64 unpadded. */
export function passwords(
  { randomBytes }: Pick<Runtime, 'randomBytes'>, { atOnce = 2, waiting = 16 }: PasswordLimits = {},
): Passwords {
  const enter = gate(atOnce, waiting)
  const nobody = write(present, randomBytes(saltLength), randomBytes(hashLength))
  return {
    async hash(password) {
      const salt = randomBytes(saltLength)
      return write(present, salt, await enter(() => derive(password, salt, present)))
    },
    async verify(password, hash) {
      const { parameters, salt, expected } = read(hash ?? nobody)
      const derived = await enter(() => derive(password, salt, parameters))
      return timingSafeEqual(derived, expected) && hash !== null
    },
  }
}

function gate(atOnce: number, waiting: number): <T>(work: () => Promise<T>) => Promise<T> {
  const line: (() => void)[] = []
  let busy = 0
  return async (work) => {
    if (busy >= atOnce) {
      if (line.length >= waiting) {
        throw new ApiError('unavailable', {
          message: 'Too many log-ins at the moment.', headers: { 'Retry-After': '1' },
        })
      }
      // The place is handed over by the one that leaves, so `busy` stays as it is.
      await new Promise<void>((resolve) => line.push(resolve))
    } else busy += 1
    try {
      return await work()
    } finally {
      const next = line.shift()
      if (next) next()
      else busy -= 1
    }
  }
}

function derive(password: string, salt: Buffer, { ln, r, p }: Parameters): Promise<Buffer> {
  const N = 2 ** ln
  // Keyboards write one accented letter in several ways (NIST SP 800-63B, 3.1.1.2).
  const text = password.normalize('NFKC')
  return new Promise((resolve, reject) => {
    const maxmem = 128 * N * r + 128 * r * p + 1_048_576
    scrypt(text, salt, hashLength, { N, r, p, maxmem }, (error, key) => error ? reject(error) : resolve(key))
  })
}

function write({ ln, r, p }: Parameters, salt: Buffer, hash: Buffer): string {
  const text = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '')
  return `$scrypt$ln=${ln},r=${r},p=${p}$${text(salt)}$${text(hash)}`
}

function read(hash: string): { parameters: Parameters, salt: Buffer, expected: Buffer } {
  const [, ln, r, p, salt, expected] = form.exec(hash) ?? []
  if (salt === undefined || expected === undefined) throw new RangeError('a stored password hash has another form')
  return {
    parameters: { ln: Number(ln), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64'), expected: Buffer.from(expected, 'base64'),
  }
}
