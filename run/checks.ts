import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { node, once, root } from './steps.ts'
import type { Step } from './steps.ts'

function tool(name: string, script: string, args: readonly string[] = []): Step {
  return {
    name,
    run: async () => {
      const { code, output } = await node(script, args)
      return { counts: once(code === 0), output }
    },
  }
}

/** Writes the generated files anew beside the tree and compares: nothing in the tree is touched. */
const fresh: Step = {
  name: 'generated files',
  run: async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bayar-fresh-'))
    try {
      for (const script of ['spec/generate.ts', 'run/writeSchemas.ts']) {
        const { code, output } = await node(script, [folder])
        if (code !== 0) return { counts: once(false), output }
      }
      const stale = differences(folder, join(root, 'generated'))
      const output = stale.length === 0 ? '' : `stale, run make generate: ${stale.join(', ')}`
      return { counts: once(stale.length === 0), output }
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
}

/** Names of files that are in one folder only, or differ. */
function differences(one: string, other: string): string[] {
  const names = new Set([...readdirSync(one), ...readdirSync(other)])
  return [...names].toSorted().filter((name) => {
    const [left, right] = [join(one, name), join(other, name)]
    return !existsSync(left) || !existsSync(right) || !readFileSync(left).equals(readFileSync(right))
  })
}

const dependencyCruiser = 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs'
/** Folders that hold code and are there. */
const sources = ['spec', 'generated', 'domain', 'db', 'providers', 'jobs', 'handlers', 'pages', 'run', 'contract-tests', 'bench', 'sdk']
  .filter((folder) => existsSync(join(root, folder)))

/** Everything that `make check` looks at. The slow ones first: two run at a time. */
export const checks: readonly Step[] = [
  fresh,
  tool('code lint', 'node_modules/eslint/bin/eslint.js', ['--max-warnings', '0', '.']),
  tool('types', 'node_modules/typescript/bin/tsc', ['--noEmit']),
  tool('document lint', 'node_modules/@redocly/cli/bin/cli.js', ['lint', 'payments', 'storefront', 'identity', '--format', 'stylish']),
  tool('import boundaries', dependencyCruiser, ['--config', '.dependency-cruiser.cjs', '--output-type', 'err-long', ...sources]),
  tool('published documents', 'spec/checkPublished.ts'),
  tool('README settings', 'run/writeReadme.ts', ['--check']),
  tool('SDK', 'run/writeSdk.ts', ['--check']),
  tool('guides', 'run/writeDocs.ts', ['--check']),
]
