import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { root } from '../../run/steps.ts'

/** The output of a tool that has ended. */
export interface ToolOutcome {
  code: number
  output: string
}

/** Runs a tool of node_modules on this very Node. */
export async function runTool(script: string, args: readonly string[], environment: Record<string, string> = {}): Promise<ToolOutcome> {
  const child = spawn(process.execPath, [`${root}node_modules/${script}`, ...args], {
    cwd: root, env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => void (output += text))
  const [code] = await once(child, 'close') as [number | null]
  return { code: code ?? 1, output }
}

export interface RunningTool {
  url: string
  stop(): Promise<void>
}

const startLimitMs = 30_000

/** Starts Prism on a free port: `mock` of a document, or `proxy` before a running service. Ends with this process. */
export async function startPrism(mode: 'mock' | 'proxy', document: string, upstream?: string): Promise<RunningTool> {
  const args = mode === 'mock' ? ['mock', document] : ['proxy', document, upstream ?? '', '--errors']
  const child = spawn(process.execPath, [`${root}node_modules/@stoplight/prism-cli/dist/index.js`, ...args, '--host', '127.0.0.1', '--port', '0'], {
    cwd: root, stdio: ['ignore', 'pipe', 'pipe'],
  })
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  let output = ''
  const url = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`Prism does not start: ${output}`)), startLimitMs)
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
        const found = /listening on (http:\/\/[\d.]+:\d+)/.exec(output)?.[1]
        if (!found) return
        clearTimeout(timer)
        resolve(found)
      })
    }
    child.once('close', (code) => {
      clearTimeout(timer)
      reject(new Error(`Prism ended (${String(code)}): ${output}`))
    })
  })
  // What it logs from now on is of no use and must not fill the memory.
  output = ''
  return {
    url,
    async stop() {
      process.off('exit', kill)
      const closed = once(child, 'close')
      child.kill('SIGKILL')
      await closed
    },
  }
}
