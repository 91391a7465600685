import createClient from 'openapi-fetch'
import { TOTP } from 'otpauth'
import type { paths } from '../generated/identity.ts'

/** A token, and how long it lives from now. */
export interface IssuedToken {
  accessToken: string
  seconds: number
}

export interface Account {
  email: string
  password: string
  /** Base32. */
  totpSecret: string
}

/** Identity refused or could not answer; it may be tried again after so many seconds. */
export class SignInFailed extends Error {
  readonly retrySeconds: number

  constructor(message: string, retrySeconds: number) {
    super(message)
    this.name = 'SignInFailed'
    this.retrySeconds = retrySeconds
  }
}

const timeoutMs = 10_000
const codeSeconds = 30

function identityClient(url: string) {
  return createClient<paths>({ baseUrl: url, fetch: (request) => fetch(request, { signal: AbortSignal.timeout(timeoutMs) }) })
}

function failed(what: string, response: Response, error: { message?: string } | undefined, otherwise: number): SignInFailed {
  const asked = Number(response.headers.get('Retry-After'))
  return new SignInFailed(`${what}: ${response.status} ${error?.message ?? ''}`.trim(), asked > 0 ? asked : otherwise)
}

/** Logs a person in with password and code, as the console would. Throws SignInFailed. */
export async function logIn(identityUrl: string, { email, password, totpSecret }: Account): Promise<IssuedToken> {
  const client = identityClient(identityUrl)
  const first = await client.POST('/v1/auth/login', { body: { email, password, environment: 'sandbox' } })
  if (!first.data) throw failed(`${email} cannot log in`, first.response, first.error, codeSeconds)
  let { data } = first
  if (data.mfa_token !== null) {
    const code = new TOTP({ secret: totpSecret }).generate()
    const second = await client.POST('/v1/auth/login/totp', { body: { mfa_token: data.mfa_token, code } })
    // A code works once: after an earlier log-in of the same half minute the next one has to be awaited.
    if (!second.data) throw failed(`${email} cannot complete the log-in`, second.response, second.error, codeSeconds - Date.now() / 1000 % codeSeconds + 1)
    data = second.data
  }
  if (data.access_token === null || data.expires_in === null) throw new SignInFailed(`${email} got no token`, codeSeconds)
  return { accessToken: data.access_token, seconds: data.expires_in }
}

/** A token by client credentials. Throws SignInFailed. */
export async function signInClient(identityUrl: string, clientId: string, clientSecret: string): Promise<IssuedToken> {
  const { data, response, error } = await identityClient(identityUrl).POST('/v1/oauth/token', {
    body: { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret, environment: 'sandbox' },
  })
  if (!data) throw failed(`the client ${clientId} gets no token`, response, error, 5)
  return { accessToken: data.access_token, seconds: data.expires_in }
}

/** How long a kept token is good for still, in seconds; 0 for one of another issuer. Its signature is identity's to judge. */
export function secondsLeft(token: string, issuer: string, now: Date): number {
  try {
    const { iss, exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { iss?: unknown, exp?: unknown }
    return iss === issuer && typeof exp === 'number' ? Math.max(0, exp - now.getTime() / 1000) : 0
  } catch {
    return 0
  }
}
