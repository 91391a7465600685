// Writes generated/, or the folder that is named, from the split documents: bundles, types, rules, tables, the index of operations.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { documents, inRepository, redocly } from './documents.ts'
import type { DocumentName } from './documents.ts'
import * as generated from './generated.ts'
import type { Document } from './house/openapi.ts'

/** Bundles a document into `folder`; a report of the decorator or a clash of component names stops everything. */
async function bundle(name: DocumentName, folder: string): Promise<Document> {
  const file = join(folder, `${name}.json`)
  const run = await redocly(['bundle', name, '-o', file, '--component-renaming-conflicts-severity', 'error'])
  if (run.code !== 0) throw new Error(`The ${name} document cannot be bundled.\n${run.stderr}${run.stdout}`)
  const document = JSON.parse(readFileSync(file, 'utf8')) as Document
  // Which errors are implied hangs on it.
  if (document['x-service'] !== name) throw new Error(`spec/${name}/openapi.yaml needs the line x-service: ${name}`)
  return document
}

/** Checks the bundles as a reader of the published documents would. */
async function lintBundles(folder: string): Promise<void> {
  const files = documents.map((name) => join(folder, `${name}.json`))
  const config = inRepository('spec/bundles.redocly.yaml')
  const run = await redocly(['lint', ...files, '--config', config, '--format', 'stylish'])
  if (run.code !== 0) throw new Error(`A bundle is not valid.\n${run.stdout}${run.stderr}`)
}

/** The files of one document, by name; undefined is a file that must not be there. */
async function filesOf(name: DocumentName, document: Document): Promise<Record<string, string | undefined>> {
  const threeOne = generated.upgraded(document)
  return {
    [`${name}.json`]: generated.json(document),
    [`${name}.dereferenced.json`]: generated.json(generated.dereferenced(document)),
    [`${name}.3.1.json`]: generated.json(threeOne),
    [`${name}.ts`]: await generated.types(document),
    [`${name}.webhooks.ts`]: document['x-webhooks'] ? await generated.webhookTypes(threeOne) : undefined,
    [`${name}.rules.ts`]: generated.rules(document),
  }
}

async function generate(target: string): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'bayar-generate-'))
  try {
    const bundled = await Promise.all(documents.map(async (name) => [name, await bundle(name, scratch)] as const))
    const bundles = Object.fromEntries(bundled) as Record<DocumentName, Document>
    const [, ...made] = await Promise.all([
      lintBundles(scratch), ...documents.map((name) => filesOf(name, bundles[name])),
    ])
    const files: Record<string, string | undefined> = Object.assign({}, ...made, {
      'errors.ts': generated.errorTable(),
      'roles.ts': generated.roleTable(),
      'operations.txt': generated.operationLines(bundles),
    })
    mkdirSync(target, { recursive: true })
    for (const [name, text] of Object.entries(files)) {
      const path = join(target, name)
      if (text === undefined) rmSync(path, { force: true })
      else if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeFileSync(path, text)
    }
  } finally {
    rmSync(scratch, { recursive: true })
  }
}

await generate(process.argv[2] === undefined ? inRepository('generated') : resolve(process.argv[2]))
