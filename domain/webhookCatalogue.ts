import { testEventKind } from './webhookEvents.ts'

/** A kind of event and the body that it is sent with. */
export interface WebhookEventDescription {
  kind: string
  summary: string
  description: string
  /** JSON Schema of the body, draft 2020-12, without references. */
  schema: Record<string, unknown>
  /** A body of the kind, as the document shows it. */
  example: Record<string, unknown>
}

/** What is read of an OpenAPI 3.1 document. */
export interface WebhookDocument {
  webhooks: Record<string, { post: WebhookOperation }>
  components: { schemas: Record<string, unknown> }
}

interface WebhookOperation {
  summary: string
  description: string
  requestBody: { content: { 'application/json': { schema: unknown, examples: Record<string, { value: Record<string, unknown> }> } } }
}

const dialect = 'https://json-schema.org/draft/2020-12/schema'
const reference = /^#\/components\/schemas\/(.+)$/

/** The kinds of event that a document says are sent, and apart from them the one of test fires. Throws when there is no such. */
export function webhookCatalogue({ webhooks, components }: WebhookDocument): { events: WebhookEventDescription[], testEvent: WebhookEventDescription } {
  const described = Object.entries(webhooks).map(([kind, { post }]): WebhookEventDescription => {
    const { schema, examples } = post.requestBody.content['application/json']
    const [example] = Object.values(examples)
    if (!example) throw new Error(`the document shows no example of ${kind}`)
    return {
      kind, summary: post.summary, description: post.description.trim(),
      schema: { $schema: dialect, ...selfContained(schema, components.schemas, []) as object }, example: example.value,
    }
  })
  const testEvent = described.find(({ kind }) => kind === testEventKind)
  if (!testEvent) throw new Error(`the document does not tell of ${testEventKind}`)
  return { events: described.filter((entry) => entry !== testEvent), testEvent }
}

/** A schema with every reference replaced by its target, and without keys that are the document's own. */
function selfContained(node: unknown, schemas: Record<string, unknown>, within: readonly string[]): unknown {
  if (Array.isArray(node)) return node.map((entry) => selfContained(entry, schemas, within))
  if (node === null || typeof node !== 'object') return node
  const [, name] = reference.exec(String((node as { $ref?: unknown }).$ref)) ?? []
  if (name === undefined) {
    return Object.fromEntries(Object.entries(node).filter(([key]) => !key.startsWith('x-')).map(([key, value]) => [key, selfContained(value, schemas, within)]))
  }
  if (!(name in schemas) || within.includes(name)) throw new Error(`the schema ${name} is missing or contains itself`)
  return selfContained(schemas[name], schemas, [...within, name])
}
