import { globSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { KEYS } from './keys.ts'
import type { Document } from './openapi.ts'
import { METHODS } from './openapi.ts'
import type { Context, Location } from './redocly.ts'

/** Only the keys of spec/README.md, on the nodes they are for, with values they can have. */
export const keyKnown = () => {
  let underWebhooks = 0
  return {
    WebhooksMap: { enter: () => { underWebhooks += 1 }, leave: () => { underWebhooks -= 1 } },
    any: {
      enter(node: unknown, context: Context) {
        if (node === null || typeof node !== 'object' || Array.isArray(node)) return
        // Maps of names have no keys of their own: a member or header may be called x-anything.
        if (/(Map|Properties|Example)$|^(Named|Paths$|Responses$)/.test(context.type.name)) return
        if (/\/x-[a-z-]+$/.test(context.location.pointer) && context.type.name !== 'WebhooksMap') return
        for (const [key, value] of Object.entries(node).filter(([name]) => name.startsWith('x-'))) {
          const location = context.location.child([key])
          const check = context.type.name === 'Operation' && underWebhooks ? undefined : KEYS[context.type.name]?.[key]
          if (!check) {
            context.report({ message: `${key} is not a key of this place (spec/README.md).`, location })
            continue
          }
          const wrong = check(value)
          if (wrong) context.report({ message: `${key} ${wrong}.`, location })
        }
      },
    },
  }
}

/** The document names its service, which is also its folder. */
export const serviceNamed = () => ({
  Root: {
    enter(root: Document, context: Context) {
      const folder = basename(dirname(context.location.source.absoluteRef))
      if (root['x-service'] !== folder) context.report({ message: `The document needs x-service: ${folder}.` })
    },
  },
})

/** Paths are a table of contents: a path holds nothing but one $ref to a file per method. */
export const methodIsReference = () => ({
  Paths: {
    PathItem: {
      enter(item: Record<string, unknown>, context: Context) {
        for (const [key, entry] of Object.entries(item)) {
          const location = context.location.child([key])
          if (!(METHODS as readonly string[]).includes(key)) {
            context.report({ message: `${key} does not stand beside the methods: operations are complete.`, location })
          } else if (!/^[a-z0-9-]+\/[A-Za-z0-9]+\.yaml$/.test(String((entry as { $ref?: string }).$ref))) {
            context.report({ message: 'A method is one $ref to <resource>/<operationId>.yaml.', location })
          }
        }
      },
    },
  },
})

const isTemplate = (segment: string): boolean => segment.includes('{')

/** Two templates clash when no segment that sets them apart is concrete in one of them (decision 1.10). */
export function clash(one: string, other: string): boolean {
  const [a, b] = [one.split('/'), other.split('/')]
  if (a.length !== b.length) return false
  const first = a.findIndex((segment, index) => {
    const twin = b[index] as string
    const same = segment.replaceAll(/\{[^}]*\}/g, '{}') === twin.replaceAll(/\{[^}]*\}/g, '{}')
    return !same
  })
  if (first < 0) return true
  const [here, there] = [a[first] as string, b[first] as string]
  return isTemplate(here) && isTemplate(there)
}

export const pathsDistinct = () => ({
  Paths: {
    enter(paths: Record<string, unknown>, context: Context) {
      const all = Object.keys(paths)
      for (const [index, path] of all.entries()) {
        for (const other of all.slice(0, index).filter((earlier) => clash(earlier, path))) {
          const location = context.location.child([path])
          context.report({ message: `${path} and ${other} match the same requests.`, location })
        }
      }
    },
  },
})

/** Every file of a document's folder is reached from its openapi.yaml. */
export const fileReferenced = () => {
  const seen = new Set<string>()
  let root: Location | undefined
  return {
    Root: {
      enter(_: unknown, context: Context) { root = context.location },
      leave(_: unknown, context: Context) {
        const folder = dirname((root as Location).source.absoluteRef)
        for (const file of globSync('**/*.yaml', { cwd: folder }).sort()) {
          const path = join(folder, file)
          if (path !== root?.source.absoluteRef && !seen.has(path)) {
            const name = relative(folder, path)
            context.report({ message: `${name} is not referenced by openapi.yaml or anything under it.` })
          }
        }
      },
    },
    ref: {
      enter(_: unknown, __: Context, resolved: { location?: Location }) {
        if (resolved.location) seen.add(resolved.location.source.absoluteRef)
      },
    },
  }
}
