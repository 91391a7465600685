// Writes what is made of sdk/webhooks: the events' types, the vectors, and the JavaScript that receivers install; with
// --check only says whether they are what they should be.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { node, root } from './steps.ts'
import { vectorsAsJson, vectorsAsLines } from './webhookVectors.ts'

const sdk = join(root, 'sdk', 'webhooks')

/** Every made file by its path below sdk/webhooks. */
async function made(): Promise<Map<string, string>> {
  const events = readFileSync(join(root, 'generated', 'payments.webhooks.ts'), 'utf8')
  const files = new Map([
    ['src/events.ts', events], ['vectors.json', vectorsAsJson()], ['vectors.tsv', vectorsAsLines()], ['LICENSE', readFileSync(join(root, 'LICENSE'), 'utf8')],
  ])
  const folder = mkdtempSync(join(tmpdir(), 'bayar-sdk-'))
  try {
    cpSync(join(sdk, 'tsconfig.json'), join(folder, 'tsconfig.json'))
    cpSync(join(sdk, 'package.json'), join(folder, 'package.json'))
    cpSync(join(sdk, 'src'), join(folder, 'src'), { recursive: true })
    writeFileSync(join(folder, 'src', 'events.ts'), events)
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    const { code, output } = await node('node_modules/typescript/bin/tsc', ['-p', folder])
    if (code !== 0) throw new Error(`sdk/webhooks does not compile.\n${output}`)
    for (const name of readdirSync(join(folder, 'dist'))) {
      // In declarations the compiler leaves .ts as it is, which older ones of receivers refuse.
      files.set(`dist/${name}`, readFileSync(join(folder, 'dist', name), 'utf8').replaceAll(/(?<= from '\.\/\w+)\.ts'/g, '.js\''))
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
  return files
}

const stale: string[] = []
for (const [name, text] of await made()) {
  const file = join(sdk, name)
  if (existsSync(file) && readFileSync(file, 'utf8') === text) continue
  stale.push(name)
  if (process.argv.includes('--check')) continue
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}
if (process.argv.includes('--check') && stale.length > 0) {
  console.error(`stale in sdk/webhooks, run make generate: ${stale.join(', ')}`)
  process.exitCode = 1
}
