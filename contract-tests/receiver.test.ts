import { request } from 'node:https'
import { expect, test } from 'vitest'
import { startReceiver } from './harness/receiver.ts'

const post = (url: string, ca: string | undefined, body: string) => new Promise<number>((resolve, reject) => {
  request(url, { method: 'POST', ca, headers: { 'X-Test': 'a' } }, (response) => {
    response.resume()
    resolve(response.statusCode ?? 0)
  }).on('error', reject).end(body)
})

test('the receiver speaks TLS under its own certificate and keeps the bytes as they came', async () => {
  const receiver = await startReceiver()
  const body = '{"a": 1,  "b":"é"}'
  expect(await post(`${receiver.url}/hook`, receiver.certificate, body)).toBe(204)
  const [entry] = await receiver.untilReceived(1)
  expect(entry).toMatchObject({ method: 'POST', path: '/hook', headers: { 'x-test': 'a' } })
  expect(entry?.body.toString()).toBe(body)
})

test('a client that does not trust the certificate is refused before it sends anything', async () => {
  const receiver = await startReceiver()
  await expect(post(receiver.url, undefined, 'x')).rejects.toThrow(/self-signed|certificate/)
  expect(receiver.received).toEqual([])
})
