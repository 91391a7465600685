import payments from '../../generated/payments.json' with { type: 'json' }
import storefront from '../../generated/storefront.json' with { type: 'json' }
import identity from '../../generated/identity.json' with { type: 'json' }

export interface ListedOperation {
  id: string
  method: string
  path: string
  summary: string
}

export interface Reference {
  service: 'payments' | 'storefront' | 'identity'
  name: string
  version: string
  /** What it is for, in a sentence. */
  about: string
  /** Operations by tag, for those who read without script. */
  groups: readonly { tag: string, operations: readonly ListedOperation[] }[]
}

interface Document {
  info: { title: string, version: string }
  tags: readonly { name: string }[]
  paths: Readonly<Record<string, object>>
}

interface Operation {
  operationId: string
  summary: string
  tags: readonly string[]
}

const methods = ['get', 'put', 'post', 'patch', 'delete']

/** The three documents, as the pages list them. */
export const references: readonly Reference[] = [
  reference('payments', payments, 'Payment intents, webhooks, keys, cases: what merchants call.'),
  reference('storefront', storefront, 'A tenant\'s own shop on its own hostname.'),
  reference('identity', identity, 'Log-in, service tokens, signing keys.'),
]

function reference(service: Reference['service'], { info, paths, tags }: Document, about: string): Reference {
  const operations = Object.entries(paths).flatMap(([path, members]) => Object.entries(members)
    .filter(([method]) => methods.includes(method))
    .map(([method, operation]) => ({ path, method: method.toUpperCase(), operation: operation as Operation })))
  return {
    service, name: info.title, version: info.version, about,
    groups: tags.map(({ name }) => ({
      tag: name,
      operations: operations.filter(({ operation }) => operation.tags.includes(name))
        .map(({ method, operation: { operationId, summary }, path }) => ({ id: operationId, method, path, summary })),
    })),
  }
}
