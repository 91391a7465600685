import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import type { Header, Parameter, Schema } from './openapi.ts'

/** One code of `http/error-codes.yaml`. */
export interface CatalogueEntry {
  status: number
  message: string
  description: string
  remedy: string
  headers?: string[]
  members?: Record<string, { required: boolean; schema: Schema; example: unknown }>
}

/** `http/roles.yaml` as written. */
export interface RolesFile {
  roles: Record<string, { description: string; tenant?: 'platform'; bound_at: string[]; permissions: string[] }>
  scopes: Record<string, string>
  default_scopes: string[]
  permissions: string[]
  client_permissions: string[]
}

const read = (name: string): unknown => parse(readFileSync(new URL(`../http/${name}.yaml`, import.meta.url), 'utf8'))

export const catalogue = read('error-codes') as Record<string, CatalogueEntry>
export const headers = read('headers') as Record<string, Header>
export const parameters = read('parameters') as Record<string, Parameter>
export const roles = read('roles') as RolesFile

/**
 * The registered permissions that a role's pattern reaches: `*` stands for one or more segments (decision 5.4).
 * A pattern that reaches nothing is an error, since it can only be a slip.
 */
export function permissionsOf(patterns: readonly string[]): string[] {
  const reached = patterns.flatMap((pattern) => {
    const form = new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '.+')}$`)
    const found = roles.permissions.filter((permission) => form.test(permission))
    if (found.length === 0) throw new Error(`spec/http/roles.yaml: ${pattern} reaches no registered permission`)
    return found
  })
  return [...new Set(reached)].sort()
}
