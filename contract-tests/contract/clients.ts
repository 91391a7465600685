import { deepStrictEqual } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createClient } from '@hey-api/openapi-ts'
import { TOTP } from 'otpauth'
import { types } from '../../spec/generated.ts'
import type { Document } from '../../spec/house/openapi.ts'
import { root } from '../../run/steps.ts'
import type { Journey } from '../clients/journey.ts'
import type { RunningSystem } from './system.ts'
import type { Tally } from './tally.ts'
import { runTool } from './tools.ts'

const documents = ['payments', 'identity'] as const

/** Clients generated from the documents: they compile strictly, make a journey, and take values that they do not know. */
export async function clients(system: RunningSystem, directory: string, { check }: Tally): Promise<void> {
  symlinkSync(`${root}node_modules`, join(directory, 'node_modules'))
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }')
  const folders = { 'hey-api': await heyApi(directory), 'openapi-fetch': await openapiFetch(directory) }
  await Promise.all(Object.entries(folders).map(async ([name, folder]) => {
    await check(`${name} compiles`, () => compile(folder))
    const { journey } = await import(join(folder, 'client.ts')) as { journey: Journey }
    await check(`${name} makes a journey`, () => travel(journey, system))
    await check(`${name} takes values that it does not know`, () => meetUnknown(journey))
  }))
}

async function heyApi(directory: string): Promise<string> {
  const folder = newFolder(directory, 'hey-api', 'heyApi')
  for (const name of documents) {
    await createClient({
      input: `${root}generated/${name}.json`, output: { path: join(folder, name), module: { extension: '.ts' } },
      plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'], logs: { level: 'silent', file: false },
    })
  }
  return folder
}

async function openapiFetch(directory: string): Promise<string> {
  const folder = newFolder(directory, 'openapi-fetch', 'openapiFetch')
  for (const name of documents) {
    const document = JSON.parse(readFileSync(`${root}generated/${name}.json`, 'utf8')) as Document
    writeFileSync(join(folder, `${name}.ts`), await types(document))
  }
  return folder
}

function newFolder(directory: string, name: string, template: string): string {
  const folder = join(directory, name)
  mkdirSync(folder)
  copyFileSync(`${root}contract-tests/clients/${template}.ts.template`, join(folder, 'client.ts'))
  copyFileSync(`${root}contract-tests/clients/journey.ts`, join(folder, 'journey.ts'))
  return folder
}

/** As a careful user of the client would have it. */
async function compile(folder: string): Promise<void> {
  const options = { strict: true, noEmit: true, target: 'esnext', module: 'nodenext', lib: ['esnext', 'dom', 'dom.iterable'],
    allowImportingTsExtensions: true, skipLibCheck: true, types: [] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: ['client.ts'] }))
  const { code, output } = await runTool('typescript/bin/tsc', ['-p', folder])
  if (code !== 0) throw new Error(output)
}

async function travel(journey: Journey, system: RunningSystem): Promise<void> {
  const { email, password, totpSecret } = await system.newOwner()
  const client = journey({ identityUrl: system.urls.identity, paymentsUrl: system.urls.payments })
  await client.logIn(email, password, () => new TOTP({ secret: totpSecret }).generate())
  deepStrictEqual(await client.tenantId(), system.tenantId)
  const [key, reference] = [randomUUID(), `client-${randomUUID()}`]
  const input = { amount_idr: 150_000, max_uses: 1, allowed_channels: ['qris'], reference_id: reference }
  const created = await client.create(input, key)
  deepStrictEqual([created.status, created.intent?.status], [201, 'open'])
  deepStrictEqual(await client.create(input, key), created)
  deepStrictEqual(await client.create({ ...input, amount_idr: 160_000 }, key), { status: 409, intent: null, code: 'idempotency_key_reused' })
  const { charges: [charge] } = await system.simulator.charges({ merchant_reference: reference })
  await system.settled(system.simulator.pay(charge?.reference ?? ''))
  const paid = await client.get(created.intent?.id ?? '')
  deepStrictEqual([paid.status, paid.intent?.status, paid.intent?.paid_idr], [200, 'paid', 150_000])
  deepStrictEqual(await client.get(randomUUID()), { status: 404, intent: null, code: 'not_found' })
}

/** A service of a later release: states, channels, members and error codes that the client was not generated with. */
async function meetUnknown(journey: Journey): Promise<void> {
  const document = JSON.parse(readFileSync(`${root}generated/payments.dereferenced.json`, 'utf8')) as {
    paths: Record<string, { get?: { responses: Record<string, { content: Record<string, { example: object }> }> } }>
  }
  const { example } = document.paths['/v1/payments/intents/{id}']?.get?.responses['200']?.content['application/json'] ?? {}
  if (!example) throw new Error('getPaymentIntent has no example')
  const later = { ...example, status: 'on_the_moon', environment: 'staging', allowed_channels: ['barter'], a_later_member: { deep: [1] } }
  const server = createServer((request, response) => {
    const known = request.method === 'GET'
    const body = JSON.stringify(known ? later : { error: 'a_later_code', message: 'Later.', request_id: randomUUID(), more: true })
    response.writeHead(known ? 200 : 422, { 'Content-Type': 'application/json' }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const client = journey({ identityUrl: url, paymentsUrl: url })
    const read = await client.get(randomUUID())
    deepStrictEqual([read.status, read.intent?.status, read.intent?.environment, read.intent?.allowed_channels], [200, 'on_the_moon', 'staging', ['barter']])
    const refused = await client.create({ amount_idr: 1, max_uses: 1, allowed_channels: ['barter'], reference_id: 'later' }, randomUUID())
    deepStrictEqual([refused.status, refused.intent, refused.code], [422, null, 'a_later_code'])
  } finally {
    server.closeAllConnections()
    server.close()
  }
}
