import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { supervise } from './supervisor.ts'
import type { SupervisedChild } from './supervisor.ts'

let folder: string
const children: SupervisedChild[] = []
const said: string[] = []

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'bayar-supervisor-'))
})
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.stop()))
  said.length = 0
})
afterAll(() => rmSync(folder, { recursive: true }))

function start(name: string, code: string, gaveUp: (message: string) => void = () => undefined): SupervisedChild {
  const entry = join(folder, `${name}.mjs`)
  writeFileSync(entry, code)
  const child = supervise(
    { name, entry, arguments: [], environment: {}, logFile: join(folder, `${name}.log`) },
    { say: (line) => said.push(line), gaveUp: (_, message) => gaveUp(message) },
  )
  children.push(child)
  return child
}

const stays = 'process.send({ ready: true }); setInterval(() => undefined, 1000)'

describe('supervision', () => {
  test('a process that is killed is started again within a second, and it is said', async () => {
    const child = start('killed', stays)
    expect(await child.ready).toBe(true)
    const first = child.pid ?? 0
    const from = performance.now()
    process.kill(first, 'SIGKILL')
    await expect.poll(() => child.pid !== undefined && child.pid !== first, { interval: 10, timeout: 5000 }).toBe(true)
    expect(performance.now() - from).toBeLessThan(1000)
    expect(said[0]).toMatch(/^killed ended \(SIGKILL\)/)
  })

  test('a process that never becomes ready is given up after three times the same message, and tried again on restart', async () => {
    const given = Promise.withResolvers<string>()
    const child = start('wrong', 'console.error("X is not set"); process.exit(1)', given.resolve)
    expect(await given.promise).toBe('X is not set')
    expect([await child.ready, said.length]).toEqual([false, 2])
    writeFileSync(join(folder, 'wrong.mjs'), stays)
    expect(await child.restart()).toBe(true)
  })

  test('stopping drains, and does not start it again', async () => {
    const child = start('drained', `process.on("SIGTERM", () => { console.log("drained"); process.exit(0) }); ${stays}`)
    await child.ready
    await child.stop()
    expect(child.pid).toBeUndefined()
    expect(readFileSync(join(folder, 'drained.log'), 'utf8')).toBe('drained\n')
    expect(said).toEqual([])
  })
})
