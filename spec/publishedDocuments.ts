import { existsSync, readFileSync } from 'node:fs'
import { breakingChanges } from './compatibility.ts'
import type { DocumentName } from './documents.ts'
import { inRepository } from './documents.ts'
import type { Document } from './house/openapi.ts'

/** Where a document stands now, and where as last published. */
export const pathsOf = (name: DocumentName): { working: string; published: string } =>
  ({ working: inRepository(`generated/${name}.json`), published: inRepository(`spec/published/${name}.json`) })

const load = (path: string): { path: string; document: Document } =>
  ({ path, document: JSON.parse(readFileSync(path, 'utf8')) as Document })

/** Breaking changes of the working document against the published one; undefined where nothing is published yet. */
export async function breaksOf(name: DocumentName): Promise<string[] | undefined> {
  const { working, published } = pathsOf(name)
  return existsSync(published) ? breakingChanges(load(published), load(working)) : undefined
}
