import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { webhookVectors } from '../run/webhookVectors.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
const vectors = join(root, 'sdk/webhooks/vectors.tsv')
const guide = readFileSync(join(root, 'docs/webhooks.md'), 'utf8')

interface Program {
  file: string
  /** Commands that may run it, the first that is there. */
  runners: string[][]
  /** What such a command answers without an error, if the machine has what the program needs. */
  probe: string[]
}

const programs: Record<string, Program> = {
  Node: { file: 'node/verify.mjs', runners: [[process.execPath]], probe: ['--version'] },
  Python: { file: 'python/verify.py', runners: [['python3']], probe: ['--version'] },
  Go: { file: 'go/verify.go', runners: [['go', 'run'], ['/usr/local/go/bin/go', 'run']], probe: ['version'] },
  PHP: { file: 'php/verify.php', runners: [['php']], probe: ['--version'] },
  // A run-time environment alone does not compile.
  Java: { file: 'java/Verify.java', runners: [['java']], probe: ['--describe-module', 'jdk.compiler'] },
}

const folder = mkdtempSync(join(tmpdir(), 'bayar-snippets-'))
afterAll(() => rmSync(folder, { recursive: true }))
const environment = { ...process.env, GOTOOLCHAIN: 'local', GOPROXY: 'off', GOFLAGS: '' }
const there = (command: string, probe: string[]): boolean => spawnSync(command, probe, { env: environment }).status === 0
/** The first run of Go compiles what the program imports. */
const patienceMs = 180_000

describe.each(Object.entries(programs))('the program in %s', (language, { file, runners, probe }) => {
  const path = join(root, 'docs/snippets/webhooks', file)
  const [command, ...before] = runners.find(([name = '']) => there(name, probe)) ?? []
  const run = (vectorsFile: string) => spawnSync(command ?? '', [...before, path, vectorsFile], { cwd: folder, encoding: 'utf8', env: environment })

  test('stands in the guide word for word', () => {
    expect(guide).toContain(`\n${readFileSync(path, 'utf8')}\`\`\`\n`)
  })

  test.skipIf(command === undefined)(`agrees with every vector, where ${language} is installed`, { timeout: patienceMs }, () => {
    const { status, stdout, stderr } = run(vectors)
    expect(stderr).toBe('')
    expect(stdout.replaceAll('\r', '')).toBe(webhookVectors.map(({ name, verdict }) => `${verdict.padEnd(10)} ${name}\n`).join(''))
    expect(guide).toContain(stdout)
    expect(status).toBe(0)
  })

  test.skipIf(command === undefined)(`ends with an error when it disagrees with one, where ${language} is installed`, { timeout: patienceMs }, () => {
    const wrong = join(folder, 'wrong.tsv')
    writeFileSync(wrong, readFileSync(vectors, 'utf8').replace('\nvalid\tok\t', '\nvalid\tmismatch\t'))
    expect(run(wrong).status).toBe(1)
  })
})
