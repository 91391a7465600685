import { isObject } from '../readJson.ts'
import { invalid } from './chargeRequest.ts'
import type { Served } from './exchange.ts'
import type { Shop } from './shop.ts'

/** A call as its route sees it. */
export interface RoutedCall {
  /** What stands in place of the names in braces. */
  readonly parameters: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly body: Record<string, unknown>
}

/** One operation of the simulator, with the words that describe it. */
export interface Route {
  readonly method: 'GET' | 'POST'
  /** With names in braces. */
  readonly path: string
  readonly does: string
  /** Members of the body, or of the query of a GET; of a control route all that it knows. */
  readonly members: Readonly<Record<string, string>>
  serve(shop: Shop, call: RoutedCall): Served | Promise<Served>
}

/** The route of a call, and what stands in its braces; undefined when there is none. */
export function routed(routes: readonly Route[], method: string, path: string): { route: Route; parameters: Record<string, string> } | undefined {
  for (const route of routes) {
    const parameters = route.method === method ? parametersIn(route.path, path) : null
    if (parameters !== null) return { route, parameters }
  }
  return undefined
}

/** The body of a control call. Throws a Refusal (400) for a member that the route does not know: a typing error would pass for obedience. */
export function readMembers(route: Route, body: unknown): Record<string, unknown> {
  if (!isObject(body)) throw invalid('the body must be a JSON object')
  const stranger = Object.keys(body).find((name) => !Object.hasOwn(route.members, name))
  if (stranger !== undefined) throw invalid(`there is no member ${stranger}`)
  return body
}

function parametersIn(pattern: string, path: string): Record<string, string> | null {
  const [wanted, given] = [pattern.split('/'), path.split('/')]
  if (wanted.length !== given.length) return null
  const parameters: Record<string, string> = {}
  for (const [at, segment] of wanted.entries()) {
    const value = given[at] ?? ''
    if (segment.startsWith('{')) parameters[segment.slice(1, -1)] = value
    else if (segment !== value) return null
  }
  return parameters
}
