// The inbox of the development run: receives what the demo merchant's subscription sends, shows it, and has it sent again.
import { readFileSync } from 'node:fs'
import { systemRuntime } from '../domain/runtime.ts'
import { startInbox } from './inbox/server.ts'

async function main(): Promise<void> {
  const setting = (name: string): string => {
    const value = process.env[name]
    if (!value) throw new Error(`the inbox cannot start: ${name} is not set`)
    return value
  }
  const inbox = await startInbox({
    port: Number(setting('INBOX_PORT')), host: setting('HOST'), secret: setting('INBOX_SECRET'), runtime: systemRuntime,
    certificate: readFileSync(setting('INBOX_CERTIFICATE_FILE'), 'utf8'), key: readFileSync(setting('INBOX_KEY_FILE'), 'utf8'),
    credentialsFile: setting('INBOX_CREDENTIALS_FILE'),
  })
  process.stdout.write(`${JSON.stringify({ message: 'inbox ready', port: inbox.port })}\n`)
  process.send?.({ ready: true, port: inbox.port })
  // Without its supervisor nobody would restart or stop this process.
  for (const event of ['SIGTERM', 'SIGINT', 'disconnect'] as const) {
    process.once(event, () => {
      void inbox.close().finally(() => process.exit(0))
    })
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
})
