import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writePrivateFile } from './privateFile.ts'

/** A person of the demo data, with a token that lives as long as the run. */
export interface PersonCredentials {
  email: string
  password: string
  totp_secret: string
  access_token: string | null
}

/** What `.dev/credentials.json` says (decision 9.2): how a person, a script or a test finds the running system. */
export interface Credentials {
  payments_url: string
  storefront_url: string
  identity_url: string
  checkout_url_base: string
  simulator_url: string
  inbox_url: string
  tenant_id: string
  merchant_id: string
  store_id: string | null
  storefront_host: string
  api_key: string
  owner: PersonCredentials
  second_approver: PersonCredentials
  platform_admin: PersonCredentials
  bff: { client_id: string, client_secret: string, access_token: string | null }
  database_url: string
  identity_database_url: string
}

export const tokenHolders = ['owner', 'second_approver', 'platform_admin', 'bff'] as const
export type TokenHolderName = typeof tokenHolders[number]

/** The file in the folder of what a run keeps. */
export function credentialsFile(directory: string): string {
  return join(directory, 'credentials.json')
}

export function writeCredentials(file: string, credentials: Credentials): void {
  writePrivateFile(file, `${JSON.stringify(credentials, null, 2)}\n`)
}

/** Tokens that an earlier run left; null where there is none. */
export function keptTokens(file: string): Record<TokenHolderName, string | null> {
  const kept = existsSync(file) ? readCredentials(file) : null
  return {
    owner: kept?.owner?.access_token ?? null,
    second_approver: kept?.second_approver?.access_token ?? null,
    platform_admin: kept?.platform_admin?.access_token ?? null,
    bff: kept?.bff?.access_token ?? null,
  }
}

function readCredentials(file: string): Partial<Credentials> | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Partial<Credentials>
  } catch {
    // It is written anew at every start: what cannot be read is as good as none.
    return null
  }
}
