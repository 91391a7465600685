import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { longForms } from './longForms.ts'
import { root } from './steps.ts'

describe.each(longForms)('the long form of $name', ({ alone, files, settings }) => {
  test.each(files)('%s is there, reads every setting, and has nothing beside it where it measures time', (file) => {
    const path = join(root, file)
    expect(existsSync(path)).toBe(true)
    const text = readFileSync(path, 'utf8')
    expect(alone === true).toBe(file.startsWith('bench/'))
    for (const name of Object.keys(settings)) expect(text).toContain(`process.env.${name}`)
  })
})
