// Makes the working documents the published ones, unless they break what was published before.
import { copyFileSync, mkdirSync } from 'node:fs'
import { documents, inRepository } from './documents.ts'
import { breaksOf, pathsOf } from './publishedDocuments.ts'

const results = await Promise.all(documents.map(async (name) => [name, await breaksOf(name) ?? []] as const))
const breaks = results.flatMap(([name, lines]) => lines.map((line) => `  - ${name}: ${line}`))
if (breaks.length) {
  console.error(`Nothing was published, because of breaking changes:\n${breaks.join('\n')}`)
  process.exitCode = 1
} else {
  mkdirSync(inRepository('spec/published'), { recursive: true })
  for (const name of documents) {
    const { working, published } = pathsOf(name)
    copyFileSync(working, published)
    console.log(`${name}: published`)
  }
}
