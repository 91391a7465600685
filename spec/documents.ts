import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** The three documents; each is also a folder of spec/, an api of redocly.yaml, and a stem in generated/. */
export const documents = ['payments', 'storefront', 'identity'] as const
export type DocumentName = (typeof documents)[number]

/** The absolute path of a file of the repository. */
export const inRepository = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url))

/** What a finished Redocly run said. */
export interface RedoclyRun { code: number; stdout: string; stderr: string }

/** Runs the Redocly CLI in the repository, on this very Node, so that the plugin's TypeScript loads. */
export async function redocly(args: readonly string[]): Promise<RedoclyRun> {
  const cli = inRepository('node_modules/@redocly/cli/bin/cli.js')
  const quiet = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', NO_COLOR: '1', FORCE_COLOR: '0' }
  const options = { cwd: inRepository('.'), env: { ...process.env, ...quiet }, maxBuffer: 2 ** 28 }
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [cli, ...args], options)
    return { code: 0, stdout, stderr }
  } catch (error) {
    const failed = error as { code?: unknown; stdout?: string; stderr?: string }
    if (typeof failed.code !== 'number') throw error
    return { code: failed.code, stdout: failed.stdout ?? '', stderr: failed.stderr ?? '' }
  }
}
