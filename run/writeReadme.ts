// Writes the table of settings into README.md; with --check only says whether it is what it should be.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describeSettings } from '../domain/configuration.ts'

const file = fileURLToPath(new URL('../README.md', import.meta.url))
const begin = '<!-- settings: written by `make generate` -->'
const end = '<!-- end of settings -->'

const text = readFileSync(file, 'utf8')
const [from, to] = [text.indexOf(begin), text.indexOf(end)]
if (from < 0 || to < from) throw new Error(`README.md lacks the lines ${begin} and ${end}`)
const wanted = `${text.slice(0, from)}${begin}\n${describeSettings()}\n${text.slice(to)}`
if (process.argv.includes('--check')) {
  if (wanted !== text) {
    console.error('The table of settings in README.md is not that of domain/configuration.ts: run make generate.')
    process.exitCode = 1
  }
} else if (wanted !== text) writeFileSync(file, wanted)
