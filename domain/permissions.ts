import { roles } from '../generated/roles.ts'

interface Binding {
  role: string
  scope: string
}

const matrix: ReadonlyMap<string, ReadonlySet<string>> = new Map(Object.entries(roles).map(([role, { permissions }]) => [role, new Set(permissions)]))

/** The places (`*`, `merchant:<id>`, `pos:<id>`) at which the bindings grant `permission`. An unknown role grants nothing. */
export function placesOf(bindings: readonly Binding[], permission: string): string[] {
  return bindings.filter(({ role }) => matrix.get(role)?.has(permission)).map(({ scope }) => scope)
}

/** Every permission that the bindings grant anywhere, sorted, each once (brief, payments: getMe). */
export function permissionsOf(bindings: readonly Binding[]): string[] {
  return [...new Set(bindings.flatMap(({ role }) => [...matrix.get(role) ?? []]))].sort()
}
