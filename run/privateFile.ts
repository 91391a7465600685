import { renameSync, writeFileSync } from 'node:fs'

/** Writes a file that only its owner can read, in one step: a reader sees the old text or the new one. */
export function writePrivateFile(path: string, text: string): void {
  const draft = `${path}.${process.pid}.new`
  writeFileSync(draft, text, { mode: 0o600 })
  renameSync(draft, path)
}
