// Exits 1 when a working document breaks what is published.
import { documents } from './documents.ts'
import { breaksOf } from './publishedDocuments.ts'

const results = await Promise.all(documents.map(async (name) => [name, await breaksOf(name)] as const))
for (const [name, breaks] of results) {
  if (!breaks) {
    console.log(`${name}: NOTICE: not compared, nothing is published yet (spec/published/${name}.json)`)
  } else if (breaks.length === 0) {
    console.log(`${name}: breaks nothing that is published`)
  } else {
    console.error(`${name}: ${breaks.length} breaking change(s) against spec/published/${name}.json:`)
    for (const line of breaks) console.error(`  - ${line}`)
    process.exitCode = 1
  }
}
if (process.exitCode) console.error('Within /v1 only additions are made: take it back, or add beside what exists.')
