import { createHash } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname, join } from 'node:path'

/** SHA-256 over the module files of postgres 3.4.9 with patches/postgres+3.4.9.patch applied. */
const patchedDigest = '2187fa625c95eb039858b81a2a6dcedd3d770134a59f2b83b28bcc6f7e8c0389'

/** Folder of the driver's module files that `import 'postgres'` loads. */
export function driverDirectory(): string {
  const manifest = findPackageJSON('postgres', import.meta.url)
  if (!manifest) throw new Error('the package postgres is not installed: run npm install')
  const { exports } = JSON.parse(readFileSync(manifest, 'utf8')) as { exports: { import: string } }
  return dirname(join(dirname(manifest), exports.import))
}

/** SHA-256 (hexadecimal) over names and contents of the files in a folder, in the order of their names. */
export function digestOf(directory: string): string {
  const digest = createHash('sha256')
  for (const name of readdirSync(directory).sort()) {
    const content = readFileSync(join(directory, name))
    digest.update(`${name}\0${content.length}\0`).update(content)
  }
  return digest.digest('hex')
}

/**
 * Refuses a PostgreSQL driver without our patch (decision 9.3): unpatched it can commit one caller's rows inside
 * another caller's transaction when a connection is lost.
 */
export function assertPatchedDriver(directory: string = driverDirectory()): void {
  const found = digestOf(directory)
  if (found === patchedDigest) return
  throw new Error(
    `the PostgreSQL driver in ${directory} is not the patched build (SHA-256 ${found}, expected ${patchedDigest}). ` +
      'Run npm install without --ignore-scripts, or npx patch-package --error-on-fail, and start again.',
  )
}
