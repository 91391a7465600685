import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { apiRoutes } from './api.ts'
import { controlRoutes } from './control.ts'
import { call, charged, provider, received, requestFor } from './simulatorBench.ts'
import { simulatorPage, simulatorPagePath } from './simulatorPage.ts'

test('docs/simulator.md says what the simulator does: node providers/simulator/simulatorPage.ts writes it', () => {
  expect(readFileSync(simulatorPagePath, 'utf8')).toBe(simulatorPage())
})

test('every operation of the page is served, and is one of its own', async () => {
  const routes = [...apiRoutes, ...controlRoutes]
  expect(new Set(routes.map(({ method, path }) => `${method} ${path}`)).size).toBe(routes.length)
  for (const { method, path } of routes) {
    const { json } = await call(method, path.replace('{reference}', 'SIMNONE'), method === 'GET' ? undefined : {})
    expect([path, json.code]).not.toEqual([path, 'no_such_operation'])
  }
  expect((await call('POST', '/control/charges/SIMNONE/settle', {})).json.code).toBe('no_such_operation')
})

test('every example of the page works as it says', async () => {
  const { reference } = charged(await provider.createCharge(requestFor('qris')))
  const examples = [...simulatorPage().matchAll(/^curl -sS "\$simulator(\S+)" -H "Authorization: Bearer \$key"(?: -d '(.*)')?$/gm)]
  expect(examples).toHaveLength(9)
  let free = reference
  for (const [, path = '', body] of examples) {
    // The last example is about a charge that is not paid yet.
    if (path === '/control/hold') free = charged(await provider.createCharge(requestFor('qris', { amountIdr: 20_000 }))).reference
    if (path === '/control/next') continue
    expect([path, (await call(body === undefined ? 'GET' : 'POST', path.replace('$reference', free), body)).status]).toEqual([path, 200])
  }
  const told = received.map(({ rawBody }) => {
    const reading = provider.parseCallback(rawBody)
    return reading.outcome === 'charge' ? [reading.callback.status, reading.callback.amountIdr] : []
  })
  expect(told).toEqual([['paid', 150_000], ['paid', 1], ['reversed', 20_000], ['paid', 20_000]])
})
