import { createCipheriv, createDecipheriv } from 'node:crypto'

/** Keys that stored secrets are under; the first one seals, all of them open. */
export interface SealingKeys {
  seal(plain: Buffer, identity: string, nonce: Buffer): Buffer
  open(sealed: Buffer, identity: string): Buffer
}

const nonceLength = 12
const tagLength = 16

/**
 * AES-256-GCM with a key id in front and the row's identity as associated data, so that a sealed value copied to
 * another row does not open (decision 5.6). `setting` is `id:base64` pairs with commas between; the first one seals.
 */
export function sealingKeys(setting: string): SealingKeys {
  const keys = setting.split(',').map((entry) => {
    const [id = '', encoded = ''] = entry.trim().split(':')
    const key = Buffer.from(encoded, 'base64')
    if (!/^[a-z0-9-]{1,20}$/.test(id) || key.length !== 32) throw new RangeError('a sealing key is <id>:<base64 of 32 bytes>')
    return { id, key }
  })
  const [sealing] = keys
  if (!sealing) throw new RangeError('at least one sealing key is needed')
  return {
    seal(plain, identity, nonce) {
      if (nonce.length !== nonceLength) throw new RangeError('a nonce has 12 bytes')
      const cipher = createCipheriv('aes-256-gcm', sealing.key, nonce)
      cipher.setAAD(Buffer.from(identity))
      const text = Buffer.concat([cipher.update(plain), cipher.final()])
      return Buffer.concat([Buffer.from([sealing.id.length]), Buffer.from(sealing.id), nonce, cipher.getAuthTag(), text])
    },
    open(sealed, identity) {
      const idLength = sealed[0] ?? 0
      const id = sealed.subarray(1, 1 + idLength).toString()
      const key = keys.find((entry) => entry.id === id)?.key
      if (!key) throw new RangeError(`sealed under the key ${id}, which is not configured`)
      const rest = sealed.subarray(1 + idLength)
      const decipher = createDecipheriv('aes-256-gcm', key, rest.subarray(0, nonceLength))
      decipher.setAAD(Buffer.from(identity))
      decipher.setAuthTag(rest.subarray(nonceLength, nonceLength + tagLength))
      return Buffer.concat([decipher.update(rest.subarray(nonceLength + tagLength)), decipher.final()])
    },
  }
}

/** Bytes of a fresh nonce for `seal`. */
export const sealingNonceBytes = nonceLength
