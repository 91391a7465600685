import { deepStrictEqual } from 'node:assert/strict'

export type Body = Record<string, unknown>

export interface Answer {
  status: number
  /** Empty for an answer without a body. */
  body: Body
  headers: Headers
}

/** Asks a service by way of Prism, as one caller. */
export type Ask = (method: string, path: string, body?: Body, headers?: Record<string, string>) => Promise<Answer>

/** As `through`, always with the same credential. */
export function askAs(url: string, credential: string): Ask {
  return (method, path, body, headers = {}) => through(url, method, path, body, { Authorization: `Bearer ${credential}`, ...headers })
}

/** Asks by way of Prism. Throws when it has found a violation. */
export async function through(url: string, method: string, path: string, body?: Body, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(url + path, {
    method, headers: { ...headers, ...(body && { 'Content-Type': 'application/json' }) }, ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const violations = response.headers.get('sl-violations')
  const isWhole = response.status === 204 ? text === '' : text.startsWith('{')
  if (violations !== null || response.headers.get('content-type')?.includes('problem+json') || !isWhole) {
    throw new Error(`${method} ${path} breaks the document: ${response.status} ${violations ?? ''} ${text}`)
  }
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) as Body, headers: response.headers }
}

/** Asks, and expects the status and these members, whatever else there is. */
export async function expecting(asked: Promise<Answer>, status: number, members: Body = {}): Promise<Body> {
  const answer = await asked
  deepStrictEqual([answer.status, Object.fromEntries(Object.keys(members).map((name) => [name, answer.body[name]]))], [status, members], JSON.stringify(answer.body))
  return answer.body
}
