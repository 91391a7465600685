// `make check`: types, lint, import boundaries, fresh generated files, nothing published broken.
import { checks } from './checks.ts'
import { inWords, runSteps } from './steps.ts'

const counts = await runSteps(checks)
console.log(inWords(counts))
process.exitCode = counts.failed > 0 ? 1 : 0
