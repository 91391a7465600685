import { deepStrictEqual } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { documents } from '../../spec/documents.ts'
import { operationsOf } from '../../spec/house/openapi.ts'
import type { Document, MediaType, Operation, Parameter, RequestBody, Response } from '../../spec/house/openapi.ts'
import { root } from '../../run/steps.ts'
import type { Tally } from './tally.ts'
import { startPrism } from './tools.ts'

interface Example {
  status: string
  type: string
  /** Null for the only example of a response, which has no name. */
  name: string | null
  value: unknown
  media: MediaType
}

/** `prism mock` serves every declared example of every operation, as it stands in the document and as its schema says. */
export async function mock({ check }: Tally): Promise<void> {
  await Promise.all(documents.map(async (name) => {
    const document = JSON.parse(readFileSync(`${root}generated/${name}.dereferenced.json`, 'utf8')) as Document
    const ajv = new Ajv({ strict: false, allErrors: true })
    ;(addFormats as unknown as (ajv: Ajv) => void)(ajv)
    ajv.addFormat('int64', true).addFormat('int32', true)
    const prism = await startPrism('mock', `generated/${name}.json`)
    try {
      for (const { path, method, operation } of operationsOf(document)) {
        for (const example of examplesOf(operation)) {
          await check(`${operation.operationId} ${example.status} ${example.name ?? 'example'}`, async () => {
            const response = await fetch(prism.url + filled(path, operation), requestFor(method, operation, example))
            const text = await response.text()
            if (response.status !== Number(example.status)) throw new Error(`${response.status} ${text}`)
            const body = JSON.parse(text) as unknown
            deepStrictEqual(body, example.value)
            const validate = ajv.compile(example.media.schema ?? false)
            if (!validate(body)) throw new Error(ajv.errorsText(validate.errors))
          })
        }
      }
    } finally {
      await prism.stop()
    }
  }))
}

/** Every example; a response with a body and none is there as one that nothing can equal. */
function examplesOf(operation: Operation): Example[] {
  return Object.entries(operation.responses as Record<string, Response>).flatMap(([status, { content = {} }]) =>
    Object.entries(content).flatMap(([type, media]): Example[] => media.examples
      ? Object.entries(media.examples).map(([name, { value }]) => ({ status, type, name, value, media }))
      : [{ status, type, name: null, value: media.example, media }]))
}

/** The path with the examples of what it must carry. */
function filled(path: string, { parameters = [] }: Operation): string {
  const shown = (place: string) => (parameters as Parameter[]).filter((parameter) => parameter.in === place && parameter.required)
    .map(({ name, example }) => [name, String(example)] as [string, string])
  const inPath = new Map(shown('path'))
  const query = new URLSearchParams(shown('query')).toString()
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(inPath.get(name) ?? '')) + (query && `?${query}`)
}

/** A request that the document allows, so that the mock answers what it was asked for and not a refusal of its own. */
function requestFor(method: string, operation: Operation, { status, type, name }: Example): RequestInit {
  const [bodyType, media] = Object.entries((operation.requestBody as RequestBody | undefined)?.content ?? {})[0] ?? []
  return {
    method: method.toUpperCase(),
    headers: {
      Accept: type, Prefer: name === null ? `code=${status}` : `code=${status}, example=${name}`,
      ...(operation.security?.length && { Authorization: 'Bearer any' }), ...(bodyType && { 'Content-Type': bodyType }),
    },
    ...(media && { body: JSON.stringify(media.example ?? Object.values(media.examples ?? {})[0]?.value) }),
  }
}
