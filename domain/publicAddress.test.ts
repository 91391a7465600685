import { describe, expect, test } from 'vitest'
import { refusedAddresses } from '../contract-tests/harness/hostileAddresses.ts'
import { addressLiteral, mayConnectTo, webhookUrlProblem } from './publicAddress.ts'

describe('an address', () => {
  test.each([...refusedAddresses, 'not an address', ''])('%s is refused', (address) => {
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
