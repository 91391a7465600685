import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { assertPatchedDriver, driverDirectory } from './driverCheck.ts'

describe('the driver check', () => {
  test('the installed driver is the patched build', () => {
    expect(() => assertPatchedDriver()).not.toThrow()
  })

  test('a driver without one line of the patch is refused, and the message says what to do', () => {
    const copy = mkdtempSync(join(tmpdir(), 'bayar-driver-'))
    cpSync(driverDirectory(), copy, { recursive: true })
    expect(() => assertPatchedDriver(copy)).not.toThrow()
    const file = join(copy, 'index.js')
    const patched = readFileSync(file, 'utf8')
    const unpatched = patched.replace(/ *if \(lost\)\n *return q\.reject\(lost\)\n/, '')
    expect(unpatched).not.toBe(patched)
    writeFileSync(file, unpatched)
    expect(() => assertPatchedDriver(copy)).toThrow(/npx patch-package/)
    rmSync(copy, { recursive: true })
  })
})
