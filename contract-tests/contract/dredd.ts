import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dreddDocument } from '../../spec/dreddDocument.ts'
import { documents } from '../../spec/documents.ts'
import { operationsOf } from '../../spec/house/openapi.ts'
import type { Document } from '../../spec/house/openapi.ts'
import { logIn } from '../../run/signIn.ts'
import type { Account } from '../../run/signIn.ts'
import { root } from '../../run/steps.ts'
import type { RunningSystem } from './system.ts'
import type { Tally } from './tally.ts'
import { runTool } from './tools.ts'

interface Transaction {
  name: string
  operationId: string
  status: number
  passed: boolean
  reason: string
}

/** Dredd over every documented success of every document. A success without a transaction is a failure. */
export async function dredd(system: RunningSystem, directory: string, { check }: Tally): Promise<void> {
  const owners = await Promise.all(Array.from({ length: 4 }, () => system.newOwner()))
  const tokenOf = async (person: Promise<Account>) => (await logIn(system.urls.identity, await person)).accessToken
  const tokens = { owner: await tokenOf(system.newOwner()), administrator: await tokenOf(system.newAdministrator()) }
  const state = join(directory, 'system.json')
  writeFileSync(state, JSON.stringify({
    ...system, owners, tokens, simulator: { url: system.simulator.url, apiKey: system.simulatorApiKey }, receiver: { url: system.receiver.url },
  }))
  await Promise.all(documents.map(async (name) => {
    const document = dreddDocument(JSON.parse(readFileSync(`${root}generated/${name}.json`, 'utf8')) as Document)
    const [file, results] = [join(directory, `dredd-${name}.json`), join(directory, `dredd-${name}-results.json`)]
    writeFileSync(file, JSON.stringify(document))
    const { output } = await runTool('dredd/bin/dredd', [
      file, system.urls[name], `--hookfiles=${root}contract-tests/dredd/hooks.cjs`, '--language=nodejs', '--loglevel=error',
    ], { BAYAR_CONTRACT_SYSTEM: state, BAYAR_CONTRACT_RESULTS: results })
    let transactions: Transaction[] = []
    await check(`Dredd runs over ${name}`, () => {
      try {
        transactions = JSON.parse(readFileSync(results, 'utf8')) as Transaction[]
      } catch {
        throw new Error(`no results: ${output}`)
      }
    })
    for (const { name: title, passed, reason } of transactions) {
      await check(title, () => {
        if (!passed) throw new Error(reason)
      })
    }
    for (const { operation: { operationId, responses } } of operationsOf(document)) {
      const missing = Object.keys(responses).filter((status) =>
        !transactions.some((transaction) => transaction.operationId === operationId && transaction.status === Number(status)))
      if (missing.length > 0) await check(operationId, () => Promise.reject(new Error(`nothing was sent for ${missing.join(', ')}`)))
    }
  }))
}
