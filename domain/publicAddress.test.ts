import { describe, expect, test } from 'vitest'
import { addressLiteral, mayConnectTo, webhookUrlProblem } from './publicAddress.ts'

const refused = [
  '0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.127.255.255', '127.0.0.1', '127.255.255.254', '169.254.169.254',
  '172.16.0.1', '172.31.255.255', '192.0.0.1', '192.0.2.1', '192.88.99.1', '192.168.0.1', '198.18.0.1', '198.19.255.255', '198.51.100.1',
  '203.0.113.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255',
  '::', '::1', '::7f00:1', '::ffff:127.0.0.1', '::ffff:10.0.0.1', '::ffff:169.254.169.254', '::ffff:0:127.0.0.1', '64:ff9b::7f00:1', '64:ff9b::808:808',
  '64:ff9b:1::1', '100::1', '2001::1', '2001:2::1', '2001:db8::1', '2002:7f00:1::1', '2002:808:808::1', '3fff::1', '4000::1', '5f00::1', 'fc00::1',
  'fd12:3456:789a::1', 'fe80::1', 'fec0::1', 'ff02::1', 'not an address', '',
]

describe('an address', () => {
  test.each(refused)('%s is refused', (address) => {
    expect(mayConnectTo(address, false)).toBe(false)
  })

  test.each(['1.1.1.1', '8.8.8.8', '100.63.255.255', '100.128.0.1', '172.15.0.1', '172.32.0.1', '::ffff:8.8.8.8', '2606:4700:4700::1111', '2a00:1450::1'])('%s is public', (address) => {
    expect(mayConnectTo(address, false)).toBe(true)
  })

  test.each(['127.0.0.1', '::1', '10.0.0.1', '192.168.1.1', '172.16.0.1', 'fd00::1', '::ffff:127.0.0.1'])('%s is let through by the setting', (address) => {
    expect(mayConnectTo(address, true)).toBe(true)
  })

  test.each(['169.254.169.254', 'fe80::1', '224.0.0.1', 'ff02::1', '0.0.0.0', '255.255.255.255', '100.64.0.1', '64:ff9b::7f00:1'])('%s is refused even then', (address) => {
    expect(mayConnectTo(address, true)).toBe(false)
  })
})

describe('the URL of a webhook', () => {
  test.each(['https://shop.example/hook', 'https://shop.example:8443/a?b=c', 'HTTPS://Shop.Example', 'https://tokó.example/', 'https://8.8.8.8/'])('%s is taken', (url) => {
    expect(webhookUrlProblem(url, false)).toBeNull()
  })

  test.each([
    'http://shop.example', 'ftp://shop.example', 'shop.example/hook', '', 'https://', 'javascript:alert(1)', 'https://user@shop.example', 'https://user:pass@shop.example',
    'https://127.0.0.1', 'https://127.1', 'https://2130706433', 'https://0x7f000001', 'https://0177.0.0.1', 'https://0x7f.1', 'https://127.0.0.1.', 'https://[::1]',
    'https://[::ffff:127.0.0.1]', 'https://[0:0:0:0:0:0:0:1]', 'https://169.254.169.254/latest', 'https://%31%32%37.0.0.1', 'https://①②⑦.0.0.1', 'https://0',
    'https:\\\\127.0.0.1', ' https://127.0.0.1 ', 'https://shop.example@127.0.0.1/',
  ])('%j is refused', (url) => {
    expect(webhookUrlProblem(url, false)).not.toBeNull()
  })

  test('http and a user name are refused where private networks are let through', () => {
    expect(webhookUrlProblem('http://localhost/hook', true)).toBe('must be https')
    expect(webhookUrlProblem('https://user@localhost/hook', true)).not.toBeNull()
    expect(webhookUrlProblem('https://127.0.0.1/hook', true)).toBeNull()
  })

  test('a name is no literal', () => {
    expect([addressLiteral('shop.example'), addressLiteral('10.0.0.1'), addressLiteral('[::1]')]).toEqual([null, '10.0.0.1', '::1'])
  })
})
