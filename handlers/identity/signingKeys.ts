import { createPrivateKey, generateKeyPair } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import { errors } from 'jose'
import type { JWTVerifyGetKey } from 'jose'
import { newId } from '../../db/ids.ts'
import { insertFirstSigningKey, listSigningKeys } from '../../db/identity/signingKeys.ts'
import type { PublicKey, SigningKeyRow } from '../../db/identity/signingKeys.ts'
import type { Database, Sql } from '../../db/sql.ts'
import type { Runtime } from '../../domain/runtime.ts'
import { sealingNonceBytes } from '../../domain/sealing.ts'
import type { SealingKeys } from '../../domain/sealing.ts'

type Query = Database['query']

export interface SigningKey {
  kid: string
  privateKey: KeyObject
}

/**
 * The keys of the issuer. `query` runs statements on their own: never within a transaction, since a key made in one
 * that is rolled back would go on signing.
 */
export interface SigningKeys {
  /** The key that signs now; made when there is none yet. Another process's rotation is seen within 30 seconds. */
  present(query: Query): Promise<SigningKey>
  /** Public keys whose tokens may still live, the present one first; read anew each time. */
  published(query: Query): Promise<PublicKey[]>
  /** Finds the key that a token names; one not known here is looked up. */
  verifying(query: Query): JWTVerifyGetKey
}

const keepMs = 30_000
/** How long a retired key verifies: far longer than the 10 minutes that its last token lives. */
const retiredKeptMs = 3_600_000

/** Keys in the database, private halves sealed (decision 5.4). */
export function signingKeys(sealing: SealingKeys, runtime: Runtime): SigningKeys {
  let kept: { at: number, rows: SigningKeyRow[] } | undefined
  const opened = new Map<string, KeyObject>()

  const load = async (query: Query): Promise<SigningKeyRow[]> => {
    const at = runtime.now().getTime()
    const retiredAfter = new Date(at - retiredKeptMs)
    let rows = await query((sql) => listSigningKeys(sql, retiredAfter))
    if (!rows.some(isPresent)) {
      const key = await newSigningKey(sealing, runtime)
      await query((sql) => insertFirstSigningKey(sql, key, runtime.now()))
      rows = await query((sql) => listSigningKeys(sql, retiredAfter))
    }
    kept = { at, rows }
    return rows
  }

  const recent = async (query: Query): Promise<SigningKeyRow[]> => {
    const age = kept ? runtime.now().getTime() - kept.at : -1
    return kept && age >= 0 && age < keepMs ? kept.rows : load(query)
  }

  const open = ({ id, private_key }: SigningKeyRow): KeyObject => {
    const known = opened.get(id)
    if (known) return known
    const plain = sealing.open(private_key, signingKeyIdentity(id))
    const key = createPrivateKey({ key: plain, format: 'der', type: 'pkcs8' })
    opened.clear()
    opened.set(id, key)
    return key
  }

  return {
    async present(query) {
      const row = (await recent(query)).find(isPresent)
      if (!row) throw new Error('there is no signing key, although one was just made')
      return { kid: row.id, privateKey: open(row) }
    },
    published: async (query) => (await load(query)).map(({ public_jwk }) => public_jwk),
    verifying: (query) => async ({ kid }) => {
      const named = (rows: SigningKeyRow[]) => rows.find(({ id }) => id === kid)
      const row = named(await recent(query)) ?? named(await load(query))
      if (!row) throw new errors.JWKSNoMatchingKey()
      return { ...row.public_jwk }
    },
  }
}

function isPresent({ retired_at }: SigningKeyRow): boolean {
  return retired_at === null
}

/** A key pair on P-256, by the platform's own generator: it must not come from a source that can be held still. */
async function newSigningKey(sealing: SealingKeys, runtime: Runtime): Promise<Omit<SigningKeyRow, 'retired_at'>> {
  const id = newId(runtime)
  const { publicKey, privateKey } = await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' })
  const { kty, crv, x, y } = publicKey.export({ format: 'jwk' }) as Record<'kty' | 'crv' | 'x' | 'y', string>
  const plain = privateKey.export({ format: 'der', type: 'pkcs8' })
  return {
    id,
    public_jwk: { kty, crv, x, y, kid: id, use: 'sig', alg: 'ES256' },
    private_key: sealing.seal(plain, signingKeyIdentity(id), runtime.randomBytes(sealingNonceBytes)),
  }
}

/** What a sealed private key is bound to. */
export function signingKeyIdentity(id: string): string {
  return `signing_keys:private_key:${id}`
}

/** Statements on a connection that the caller holds already. */
export function on(sql: Sql): Query {
  return (work) => work(sql)
}
