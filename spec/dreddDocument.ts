// node spec/dreddDocument.ts <document> <output file>: a document whose declared successes Dredd can all run.
import { readFileSync, writeFileSync } from 'node:fs'
import { documents, inRepository } from './documents.ts'
import type { Document, Follow, MediaType, Parameter, Response, Schema } from './house/openapi.ts'
import { operationsOf, within } from './house/openapi.ts'
import { prefixOf } from './generated.ts'

/** What of an example Dredd may insist on, which wants every member present: the required ones, and no keys of maps. */
function insisted(example: unknown, schema: Schema | undefined, follow: Follow): unknown {
  const { node } = follow<Schema | undefined>(schema)
  if (Array.isArray(example)) return example.map((entry) => insisted(entry, node?.items, follow))
  if (example === null || typeof example !== 'object') return example
  const { properties = {}, required = [] } = node ?? {}
  return Object.fromEntries(Object.entries(example)
    .filter(([name]) => required.includes(name) && name in properties)
    .map(([name, value]) => [name, insisted(value, properties[name], follow)]))
}

function success(response: Response, follow: Follow): Response {
  const content = Object.entries(response.content ?? {}).map(([type, media]) => {
    const example = media.example ?? Object.values(media.examples ?? {})[0]?.value
    const schema = follow<Schema | undefined>(media.schema).node
    return [type, { schema: media.schema, example: insisted(example, schema, follow) }]
  })
  const body = content.length ? { content: Object.fromEntries(content) } : {}
  return { description: response.description ?? '', ...body }
}

/** Request bodies with one example: Dredd takes `example`, never the first of `examples`. */
function withExample(content: Record<string, MediaType>): Record<string, MediaType> {
  return Object.fromEntries(Object.entries(content).map(([type, { examples, ...media }]) =>
    [type, { ...media, example: media.example ?? Object.values(examples ?? {})[0]?.value }]))
}

/** Successes only; transactions are named by operationId; errors, security and webhooks are left out. */
export function dreddDocument(document: Document): Document {
  const copy = structuredClone(document)
  const follow = within(copy)
  for (const { operation } of operationsOf(copy)) {
    operation.summary = operation.operationId
    delete operation.security
    // Dredd writes the members of an object as parameters of their own.
    operation.parameters = (operation.parameters ?? []).filter((parameter) =>
      (follow<Parameter>(parameter).node as { style?: string }).style !== 'deepObject')
    const body = operation.requestBody
    if (body && !('$ref' in body) && body.content) body.content = withExample(body.content)
    const responses = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'))
    operation.responses = Object.fromEntries(responses.map(([status, response]) =>
      [status, success(follow<Response>(response).node, follow)]))
  }
  const prefix = prefixOf(copy)
  const { responses: _, headers: __, securitySchemes: ___, ...components } = copy.components ?? {}
  const { 'x-webhooks': ____, servers: _____, ...rest } = copy
  const paths = Object.fromEntries(Object.entries(copy.paths).map(([path, item]) => [prefix + path, item]))
  return { ...rest, components, paths }
}

if (import.meta.main) {
  const [name, output] = process.argv.slice(2)
  if (!output || !documents.some((known) => known === name)) {
    console.error(`usage: node spec/dreddDocument.ts <${documents.join('|')}> <output file>`)
    process.exit(2)
  }
  const document = JSON.parse(readFileSync(inRepository(`generated/${name}.json`), 'utf8')) as Document
  writeFileSync(output, `${JSON.stringify(dreddDocument(document), null, 2)}\n`)
}
