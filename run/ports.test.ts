import { createServer } from 'node:net'
import type { AddressInfo, Server } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { claimPorts, portOffsets } from './ports.ts'
import type { ClaimedPorts } from './ports.ts'

const host = '127.0.0.1'
const claimed: ClaimedPorts[] = []
const servers: Server[] = []

afterEach(async () => {
  for (const claim of claimed.splice(0)) claim.release()
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))))
})

async function claim(base: string | undefined): Promise<ClaimedPorts> {
  const got = await claimPorts(base, host)
  claimed.push(got)
  return got
}

function listenOn(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    servers.push(server)
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port))
  })
}

/** A base whose ten ports are free at present, away from those that runs take by themselves. */
async function freeBase(): Promise<number> {
  for (;;) {
    const port = await listenOn(0)
    const base = port - port % 10
    const got = base > 20_000 && base < 65_500 ? await claimPorts(String(base + 20 > 65_500 ? base - 40 : base + 20), host).catch(() => null) : null
    if (!got) continue
    got.release()
    return got.base
  }
}

describe('ports of a run', () => {
  test('a base that was asked for is given, and refused to a second run with a message that says what to do', async () => {
    const base = await freeBase()
    const first = await claim(String(base))
    expect([first.base, first.instead, first.portOf('simulator')]).toEqual([base, null, base + portOffsets.simulator])
    await expect(claimPorts(String(base), host)).rejects.toThrow(new RegExp(`PORT=${base} cannot be used: another run holds port .*Choose another`))
  })

  test('a base with a port that something else listens on is refused by the port\'s name', async () => {
    const base = await freeBase()
    await listenOn(base + portOffsets.identity)
    await expect(claimPorts(String(base), host)).rejects.toThrow(`port ${base + portOffsets.identity} (identity) is taken`)
  })

  test('runs that start at once without asking get different ports', async () => {
    const bases = await Promise.all([claim(undefined), claim(undefined), claim('')])
    expect(new Set(bases.map(({ base }) => base)).size).toBe(3)
  })

  test('what is no port is refused', async () => {
    for (const asked of ['x', '80', '65530', '4000.5']) await expect(claimPorts(asked, host)).rejects.toThrow(`PORT=${asked} is no port`)
  })
})
