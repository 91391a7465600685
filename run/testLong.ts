// `make test-long`: tests in their long form. The last line is the total.
import { longForms } from './longForms.ts'
import { inWords, sum } from './steps.ts'
import type { Counts } from './steps.ts'
import { tests } from './vitestRun.ts'

const from = performance.now()
const counted: Counts[] = []
for (const { name, files, settings, alone } of longForms) {
  for (const [setting, value] of Object.entries(settings)) process.env[setting] ??= value
  console.log(`${name} (${Object.keys(settings).map((setting) => `${setting}=${process.env[setting]}`).join(' ')}):`)
  counted.push(await tests(...files, ...(alone ? ['--no-file-parallelism'] : [])))
}
const total = sum(counted)
console.log(`\nall of it took ${((performance.now() - from) / 60_000).toFixed(0)} minutes`)
console.log(inWords(total))
process.exitCode = total.failed > 0 ? 1 : 0
