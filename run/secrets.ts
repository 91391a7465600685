import { existsSync, readFileSync } from 'node:fs'
import type { Runtime } from '../domain/runtime.ts'
import { newId } from '../db/ids.ts'
import type { InboxSubscription } from './inbox/seedInbox.ts'
import { writePrivateFile } from './privateFile.ts'
import type { SeededIdentity } from './seedIdentity.ts'

/** Everything secret that a development run makes up, kept between runs. */
export interface DevelopmentSecrets {
  sealing_keys: string
  merchant_id: string
  /** Null before the first seeding. */
  api_key: string | null
  simulator: { api_key: string, credential_id: string, callback_secret: string }
  /** Subscription of the run's own receiver; null before the first seeding. */
  inbox: InboxSubscription | null
  /** Tenants, users and clients as they were seeded; null before the first time. */
  identity: SeededIdentity | null
}

/** The secrets of an earlier run from `file`, or new ones, written there. */
export function loadSecrets(file: string, runtime: Pick<Runtime, 'now' | 'randomBytes'>): DevelopmentSecrets {
  if (existsSync(file)) {
    try {
      // What an earlier version kept has no subscription.
      const kept = JSON.parse(readFileSync(file, 'utf8')) as DevelopmentSecrets
      return { ...kept, inbox: (kept as Partial<DevelopmentSecrets>).inbox ?? null }
    } catch (error) {
      throw new Error(`${file} is not readable: run make clean to start anew`, { cause: error })
    }
  }
  const text = (bytes: number): string => runtime.randomBytes(bytes).toString('base64url')
  const secrets: DevelopmentSecrets = {
    sealing_keys: `development:${runtime.randomBytes(32).toString('base64')}`,
    merchant_id: newId(runtime),
    api_key: null,
    simulator: { api_key: text(32), credential_id: newId(runtime), callback_secret: text(32) },
    inbox: null,
    identity: null,
  }
  saveSecrets(file, secrets)
  return secrets
}

export function saveSecrets(file: string, secrets: DevelopmentSecrets): void {
  writePrivateFile(file, `${JSON.stringify(secrets, null, 2)}\n`)
}
