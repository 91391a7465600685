import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { SimulatorProvider } from '../simulatorProvider.ts'
import { startSimulator } from './server.ts'
import {
  apiKey, byKey, call, callbackUrl, charged, heldFor, launch, provider, requestFor, runtime, secret, simulator,
} from './simulatorBench.ts'

describe('the door', () => {
  test('without the API key nothing but health and the payer\'s page is answered', async () => {
    for (const [method, path] of [
      ['GET', '/charges?key=a'], ['POST', '/charges'], ['POST', '/charges/SIM0/expire'], ['GET', '/control/charges'],
      ['POST', '/control/next'], ['POST', '/control/reset'], ['POST', '/control/charges/SIM0/pay'], ['GET', '/else'],
    ] as const) {
      expect([path, (await call(method, path, undefined, 'wrong')).status]).toEqual([path, 401])
    }
    expect((await fetch(`${simulator.url}/health`)).status).toBe(200)
    expect((await new SimulatorProvider({ baseUrl: simulator.url, apiKey: 'wrong', runtime })
      .createCharge(requestFor('qris')))).toEqual({ outcome: 'misconfigured', reason: 'status 401 unauthenticated' })
  })

  test('malformed input is refused by name, and the simulator answers on', async () => {
    const good = {
      key: 'good', channel: 'qris', currency: 'IDR', amount_idr: 150_000, multi_use: false, expires_at: null,
      merchant: { id: 'm', name: 'Toko', city: 'Solo', postal_code: '57111', mcc: '5411', nmid: null },
    }
    const bodies: [unknown, string][] = [
      ['{', 'not JSON'], ['null', 'JSON object'], ['[]', 'JSON object'], ['', 'channel'], ['"\\ud800"', 'JSON object'],
      [{ ...good, key: '' }, 'key'], [{ ...good, key: 'a b' }, 'key'], [{ ...good, key: 'k'.repeat(101) }, 'key'],
      [{ ...good, channel: 'cash' }, 'channel'], [{ ...good, channel: '__proto__' }, 'channel'],
      [{ ...good, currency: 'USD' }, 'currency'], [{ ...good, amount_idr: '5' }, 'amount_idr'],
      [{ ...good, amount_idr: 1e300 }, 'amount_idr'], [{ ...good, amount_idr: 0 }, 'amount_idr'],
      [{ ...good, multi_use: 1 }, 'multi_use'], [{ ...good, channel: 'card_3ds', multi_use: true }, 'multi_use'],
      [{ ...good, expires_at: '2026' }, 'expires_at'], [{ ...good, expires_at: '2026-13-01T00:00:00Z' }, 'expires_at'],
      [{ ...good, merchant: null }, 'merchant'], [{ ...good, merchant: { ...good.merchant, mcc: 'abcd' } }, 'mcc'],
      [{ ...good, merchant: { ...good.merchant, nmid: 'X1' } }, 'nmid'],
      [{ ...good, merchant: { ...good.merchant, qris_criteria: 'XXX' } }, 'qris_criteria'],
      [{ ...good, callback_url: 'ftp://x' }, 'callback_url'], [{ ...good, return_url: 'javascript:1' }, 'return_url'],
    ]
    for (const [body, named] of bodies) {
      const { status, json } = await call('POST', '/charges', body)
      expect([body, status, json.message]).toEqual([body, 400, expect.stringContaining(named)])
    }
    const odd = [{}, { behaviour: 'explode' }, { behaviour: 'silent', n: 0 }, { behaviour: 'latency', ms: -1 }]
    for (const body of odd) {
      expect((await call('POST', '/control/next', body)).status).toBe(400)
    }
    expect((await call('POST', '/charges', { ...good, description: 'x'.repeat(70_000) })).status).toBe(413)
    expect((await call('DELETE', '/charges')).status).toBe(404)
    expect((await call('POST', '/control/charges/%ff/pay')).status).toBe(404)
    expect((await call('POST', '/charges', good)).status).toBe(201)
  })
})

describe('the journal', () => {
  let folder: string
  let path: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'simulator-'))
    path = join(folder, 'journal')
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  async function restart(): Promise<void> {
    await simulator.close()
    await launch(path)
  }

  test('charges, payments, counts and taken numbers outlive the process', async () => {
    await restart()
    const request = requestFor('va_bank_e')
    const charge = charged(await provider.createCharge(request))
    await call('POST', `/control/charges/${charge.reference}/pay`)
    const found = await provider.findCharge(byKey(request.key))
    await restart()
    expect(await provider.findCharge(byKey(request.key))).toEqual(found)
    expect(charged(await provider.createCharge(request)).fields).toEqual(charge.fields)
    expect(await heldFor(request.key)).toEqual({ charges: 1, create_calls: 2 })
    await restart()
    expect(await heldFor(request.key)).toEqual({ charges: 1, create_calls: 2 })
    expect(readFileSync(path, 'utf8').trim().split('\n')).toHaveLength(2)
  })

  test('a last line cut short by a kill is dropped; a foreign line stops the start', async () => {
    await restart()
    const { key } = charged(await provider.createCharge(requestFor('qris')))
    appendFileSync(path, '{"type":"charge","charge":{"refer')
    await restart()
    expect((await provider.findCharge(byKey(key))).outcome).toBe('found')
    writeFileSync(path, 'something else\n')
    await expect(startSimulator({ port: 0, runtime, apiKey, callbackSecret: secret, callbackUrl, journalPath: path }))
      .rejects.toThrow('line 1 is no record')
  })

  test('reset forgets charges, counts and behaviours, in the file too', async () => {
    await restart()
    const { key } = charged(await provider.createCharge(requestFor('qris')))
    await call('POST', '/control/next', { behaviour: 'error-500' })
    await call('POST', '/control/reset')
    expect((await provider.createCharge(requestFor('qris'))).outcome).toBe('charged')
    await restart()
    expect((await call('GET', '/control/charges')).json.total).toBe(1)
    expect(await provider.findCharge(byKey(key))).toEqual({ outcome: 'absent' })
  })
})

describe('the process', () => {
  let folder: string
  const children: ChildProcess[] = []
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'simulator-'))
  })
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL')
    rmSync(folder, { recursive: true })
  })

  function run(change: Record<string, string> = {}): ChildProcess {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'server.ts')], {
      env: {
        SIMULATOR_PORT: '0', SIMULATOR_API_KEY: apiKey, SIMULATOR_CALLBACK_SECRET: secret,
        SIMULATOR_CALLBACK_URL: callbackUrl, SIMULATOR_JOURNAL: join(folder, 'journal'), ...change,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    children.push(child)
    return child
  }

  async function clientOf(child: ChildProcess): Promise<SimulatorProvider> {
    const [line] = await once(child.stdout ?? child, 'data') as [Buffer]
    const { url } = JSON.parse(line.toString()) as { url: string }
    return new SimulatorProvider({ baseUrl: url, apiKey, runtime })
  }

  test('killed without warning, it starts again with every charge that it answered for', async () => {
    const child = run()
    const client = await clientOf(child)
    const requests = Array.from({ length: 20 }, () => requestFor('va_bank_b', { expiresAt: null }))
    const made = (await Promise.all(requests.map((request) => client.createCharge(request)))).map(charged)
    child.kill('SIGKILL')
    await once(child, 'exit')
    const again = await clientOf(run())
    for (const charge of made) expect(await again.findCharge(byKey(charge.key))).toEqual({ outcome: 'found', charge })
  })

  test('ends at SIGTERM with status 0, callers without an answer notwithstanding', async () => {
    const child = run()
    const client = await clientOf(child)
    const left = client.createCharge(requestFor('qris', { amountIdr: 111_003, expiresAt: null }))
    while ((await client.findCharge(byKey('none'))).outcome !== 'absent');
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
    expect((await left).outcome).toBe('unknown')
  })

  test('refuses to start without a setting, naming it', async () => {
    for (const name of ['SIMULATOR_API_KEY', 'SIMULATOR_CALLBACK_SECRET', 'SIMULATOR_CALLBACK_URL']) {
      const child = run({ [name]: '' })
      const [[said], [status]] = await Promise.all([once(child.stderr ?? child, 'data'), once(child, 'exit')])
      expect([String(said), status]).toEqual([expect.stringContaining(`${name} is not set`), 1])
    }
  })
})
