/** Finds what a path stands for, and the values of its templates; null for an unknown path, or one that cannot be decoded. */
export type RouteTable<Target> = (path: string) => { target: Target, params: Record<string, string> } | null

interface Leaf<Target> {
  target: Target
  /** Names of the templates, in the order of the path. */
  names: readonly string[]
}

interface Node<Target> {
  literals: Map<string, Node<Target>>
  /** Segments that are templates or hold one, by their text without names. */
  templates: Map<string, { form: RegExp, next: Node<Target> }>
  leaf: Leaf<Target> | undefined
}

const template = /\{([^}]+)\}/g
const special = /[\\^$.*+?()[\]{}|]/g

/**
 * A tree of path segments: what a look-up costs depends on the path's own length, not on how many paths there are.
 * Paths are matched whole, by case, with every slash counting; a literal goes before a template, whose value is never empty.
 */
export function routeTable<Target>(paths: Iterable<readonly [path: string, target: Target]>): RouteTable<Target> {
  const root = emptyNode<Target>()
  for (const [path, target] of paths) {
    const node = path.split('/').reduce(childOf, root)
    if (node.leaf) throw new Error(`${path} matches the same requests as another path`)
    node.leaf = { target, names: [...path.matchAll(template)].map(([, name = '']) => name) }
  }
  return (path) => {
    const values: string[] = []
    const leaf = search(root, path.split('/'), 0, values)
    const params = leaf && decoded(leaf.names, values)
    return leaf && params ? { target: leaf.target, params } : null
  }
}

function emptyNode<Target>(): Node<Target> {
  return { literals: new Map(), templates: new Map(), leaf: undefined }
}

function childOf<Target>(node: Node<Target>, segment: string): Node<Target> {
  if (!segment.includes('{')) {
    const literal = node.literals.get(segment) ?? emptyNode<Target>()
    node.literals.set(segment, literal)
    return literal
  }
  const text = segment.replace(template, '{}')
  const form = new RegExp(`^${text.split('{}').map((part) => part.replace(special, '\\$&')).join('(.+)')}$`)
  const entry = node.templates.get(text) ?? { form, next: emptyNode<Target>() }
  node.templates.set(text, entry)
  return entry.next
}

/** Goes back to a template where a literal leads nowhere. `values` holds the undecoded values on the way. */
function search<Target>(node: Node<Target>, segments: readonly string[], at: number, values: string[]): Leaf<Target> | undefined {
  if (at === segments.length) return node.leaf
  const segment = segments[at] as string
  const literal = node.literals.get(segment)
  const found = literal && search(literal, segments, at + 1, values)
  if (found) return found
  for (const [text, { form, next }] of node.templates) {
    const taken = values.length
    if (text === '{}') {
      if (segment === '') continue
      values.push(segment)
    } else {
      const match = form.exec(segment)
      if (!match) continue
      values.push(...match.slice(1))
    }
    const leaf = search(next, segments, at + 1, values)
    if (leaf) return leaf
    values.length = taken
  }
  return undefined
}

function decoded(names: readonly string[], values: readonly string[]): Record<string, string> | null {
  const params: Record<string, string> = {}
  try {
    names.forEach((name, index) => {
      params[name] = decodeURIComponent(values[index] as string)
    })
    return params
  } catch {
    // Not UTF-8 in percent encoding: no resource has such a name.
    return null
  }
}
