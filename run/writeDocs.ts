// Writes into docs/*.md what stands elsewhere: source files, numbers, output; with --check only says whether it is there as it should be.
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { nextAttempts, retryPolicy } from '../domain/webhookRetry.ts'
import { cardCodeTable, channelTable, errorCatalogue, magicAmountTable } from './guideTables.ts'
import { root } from './steps.ts'
import { webhookVectors } from './webhookVectors.ts'

/** A section begins with `<!-- included: <what> -->`, where `what` is a file of the repository or one of `written`. */
const section = /(<!-- included: (.+?) -->\n)[\s\S]*?(<!-- end of included -->)/g
const languages: Record<string, string> = { '.mjs': 'js', '.py': 'python', '.go': 'go', '.php': 'php', '.java': 'java', '.ts': 'ts' }

const written: Record<string, () => string> = {
  'the channels': channelTable,
  'the error catalogue': errorCatalogue,
  'the magic amounts': magicAmountTable,
  'the test codes': cardCodeTable,
  'verdicts on the vectors': () => fenced('', webhookVectors.map(({ name, verdict }) => `${verdict.padEnd(10)} ${name}\n`).join('')),
  'delays of retries': () => {
    const rows = nextAttempts(new Date(0), retryPolicy.attemptsPerRound - 1).map(({ failures, earliest, base, latest }) =>
      `| ${failures} | ${inWords(earliest.delaySeconds)} | ${inWords(base.delaySeconds)} | ${inWords(latest.delaySeconds)} |\n`)
    return `| failures so far | at the earliest after | without the random factor | before |\n|---|---|---|---|\n${rows.join('')}`
  },
}

function inWords(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${Number((seconds / 60).toFixed(1))} min`
}

function fenced(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\`\`\`\n`
}

function included(what: string): string {
  const write = written[what]
  return write ? write() : fenced(languages[extname(what)] ?? '', readFileSync(join(root, what), 'utf8'))
}

for (const name of globSync('docs/*.md', { cwd: root }).toSorted()) {
  const text = readFileSync(join(root, name), 'utf8')
  const wanted = text.replace(section, (_, begin: string, what: string, end: string) => begin + included(what) + end)
  if (wanted === text) continue
  if (process.argv.includes('--check')) {
    console.error(`${name} does not say what its sources say: run make generate.`)
    process.exitCode = 1
  } else writeFileSync(join(root, name), wanted)
}
