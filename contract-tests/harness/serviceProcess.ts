import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { ProcessName } from '../../domain/configuration.ts'

/** A service in a process of its own. */
export interface ServiceProcess {
  url: string
  pid: number
  /** Milliseconds from the start of the process until it was ready. */
  readyMs: number
  /** Ends it as a power cut would. */
  kill(): Promise<void>
  /** Lets it end by itself. */
  end(): Promise<void>
}

const entries = {
  payments: { file: 'handlers/server.ts', arguments: ['payments'] },
  storefront: { file: 'handlers/server.ts', arguments: ['storefront'] },
  identity: { file: 'handlers/server.ts', arguments: ['identity'] },
  simulator: { file: 'providers/simulator/server.ts', arguments: [] },
  worker: { file: 'jobs/main.ts', arguments: [] },
} satisfies Partial<Record<ProcessName, { file: string, arguments: string[] }>>

/** Starts a service on a free port with this environment and nothing else. Rejects with what it wrote when it ends before it is ready. */
export async function startServiceProcess(name: keyof typeof entries, environment: Record<string, string>): Promise<ServiceProcess> {
  const from = performance.now()
  const { file, arguments: given } = entries[name]
  const child = fork(fileURLToPath(new URL(`../../${file}`, import.meta.url)), given, {
    env: { PATH: process.env.PATH, DRAIN_DELAY_MS: '0', ...environment, [`${name.toUpperCase()}_PORT`]: '0' }, stdio: ['ignore', 'ignore', 'pipe', 'ipc'], execArgv: [],
  })
  const killNow = (): void => void child.kill('SIGKILL')
  process.once('exit', killNow)
  let written = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => void (written += text))
  const ended = once(child, 'exit')
  const [message] = await Promise.race([
    once(child, 'message'), ended.then(() => Promise.reject(new Error(`${name} does not start: ${written}`))),
  ]) as [{ port?: number }]
  return {
    pid: child.pid ?? 0,
    // A worker listens nowhere.
    url: `http://127.0.0.1:${message.port ?? 0}`, readyMs: performance.now() - from,
    async kill() {
      process.off('exit', killNow)
      child.kill('SIGKILL')
      await ended
    },
    async end() {
      process.off('exit', killNow)
      child.kill('SIGTERM')
      await ended
    },
  }
}
