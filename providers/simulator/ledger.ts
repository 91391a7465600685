import { appendFileSync, closeSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { ChannelCode } from '../../domain/channels.ts'
import type { ChargeFields, ChargeStatus } from '../paymentProvider.ts'
import type { CompletionOutcome } from './magicAmounts.ts'

export interface StoredPayment {
  readonly reference: string
  readonly amount_idr: number
  readonly completed_at: string
  readonly reversed: boolean
}

/** A charge as the journal keeps it. */
export interface StoredCharge {
  readonly reference: string
  readonly key: string
  /** Of the request that made it. */
  readonly fingerprint: string
  readonly channel: ChannelCode
  readonly amount_idr: number
  readonly multi_use: boolean
  readonly merchant_reference: string | null
  readonly merchant_name: string
  readonly description: string | null
  readonly callback_url: string | null
  readonly return_url: string | null
  readonly created_at: string
  readonly expires_at: string
  /** As last moved; a pending charge past expires_at counts as expired without being moved. */
  readonly status: ChargeStatus
  readonly decline: { readonly code: string; readonly message: string } | null
  readonly fields: ChargeFields
  readonly payments: readonly StoredPayment[]
  readonly completion: CompletionOutcome | null
  /** No callback is ever sent. */
  readonly mute: boolean
  /** The payer pays once the charge has expired; absent in journals of before. */
  readonly pays_late?: boolean
  /** When it was moved to expired, be it before expires_at; absent in journals of before. */
  readonly expired_at?: string
  /** When the provider takes the payment back; absent in journals of before. */
  readonly reverses_at?: string | null
  /** Callbacks made so far; numbers their event ids. */
  readonly notices: number
}

export interface StoredRefund {
  readonly reference: string
  readonly key: string
  /** Of the request that made it. */
  readonly fingerprint: string
  readonly charge_key: string
  readonly payment_reference: string
  readonly amount_idr: number
  readonly reason: string
  readonly note: string | null
  readonly destination: Readonly<Record<string, unknown>> | null
  readonly callback_url: string | null
  readonly created_at: string
  readonly status: 'pending' | 'succeeded' | 'failed'
  readonly completed_at: string | null
  readonly decline: { readonly code: string; readonly message: string } | null
  /** How a pending refund ends by itself. */
  readonly ends_as: 'succeeded' | 'failed' | null
  /** Callbacks made so far; numbers their event ids. */
  readonly notices: number
}

type JournalRecord =
  | { readonly type: 'call'; readonly key: string; readonly times: number }
  | { readonly type: 'charge'; readonly charge: StoredCharge }
  | { readonly type: 'refund'; readonly refund: StoredRefund }

/**
 * Everything the simulator knows. With a journal, each change is in the file before it is in memory, so that a process
 * killed at any point starts again with every charge and refund it ever answered for.
 */
export class Ledger {
  readonly #charges = new Map<string, StoredCharge>()
  readonly #references = new Map<string, string>()
  readonly #numbers = new Set<string>()
  readonly #calls = new Map<string, number>()
  readonly #refunds = new Map<string, StoredRefund>()
  readonly #refundKeys = new Map<string, string>()
  readonly #refundsOfCharge = new Map<string, Set<string>>()
  readonly #journalPath: string | null
  #journal: number | null = null

  /** Throws when the journal holds a line that is none of its own, the last one excepted: a kill cuts that short. */
  constructor(journalPath: string | null) {
    this.#journalPath = journalPath
    if (journalPath === null) return
    for (const record of readJournal(journalPath)) this.#apply(record)
    this.#rewriteJournal(journalPath)
  }

  byKey(key: string): StoredCharge | undefined {
    return this.#charges.get(key)
  }

  byReference(reference: string): StoredCharge | undefined {
    const key = this.#references.get(reference)
    return key === undefined ? undefined : this.#charges.get(key)
  }

  refundByKey(key: string): StoredRefund | undefined {
    return this.#refunds.get(key)
  }

  refundByReference(reference: string): StoredRefund | undefined {
    const key = this.#refundKeys.get(reference)
    return key === undefined ? undefined : this.#refunds.get(key)
  }

  /** Refunds of the charge under a key, those that were declined among them, oldest first. */
  refundsOf(chargeKey: string): StoredRefund[] {
    return [...this.#refundsOfCharge.get(chargeKey) ?? []].flatMap((key) => this.#refunds.get(key) ?? [])
  }

  /** Every refund, those that were declined among them, oldest first. */
  allRefunds(): StoredRefund[] {
    return [...this.#refunds.values()]
  }

  saveRefund(refund: StoredRefund): StoredRefund {
    this.#record({ type: 'refund', refund })
    return refund
  }

  /** Every charge, oldest first. */
  all(): StoredCharge[] {
    return [...this.#charges.values()]
  }

  isTaken(channel: ChannelCode, number: string): boolean {
    return this.#numbers.has(`${channel}:${number}`)
  }

  /** How often each key was used in a call to create, whatever came of it. */
  calls(): ReadonlyMap<string, number> {
    return this.#calls
  }

  /** Counts one call to create under the key, and says how many there have been. */
  countCall(key: string): number {
    const times = (this.#calls.get(key) ?? 0) + 1
    this.#record({ type: 'call', key, times })
    return times
  }

  save(charge: StoredCharge): StoredCharge {
    this.#record({ type: 'charge', charge })
    return charge
  }

  /** Forgets everything. */
  reset(): void {
    this.#charges.clear()
    this.#references.clear()
    this.#numbers.clear()
    this.#calls.clear()
    this.#refunds.clear()
    this.#refundKeys.clear()
    this.#refundsOfCharge.clear()
    if (this.#journalPath !== null) this.#rewriteJournal(this.#journalPath)
  }

  close(): void {
    if (this.#journal !== null) closeSync(this.#journal)
    this.#journal = null
  }

  #record(record: JournalRecord): void {
    if (this.#journal !== null) appendFileSync(this.#journal, `${JSON.stringify(record)}\n`)
    this.#apply(record)
  }

  #apply(record: JournalRecord): void {
    if (record.type === 'call') {
      this.#calls.set(record.key, record.times)
      return
    }
    if (record.type === 'refund') {
      const { key, reference, charge_key: chargeKey } = record.refund
      this.#refunds.set(key, record.refund)
      this.#refundKeys.set(reference, key)
      this.#refundsOfCharge.set(chargeKey, (this.#refundsOfCharge.get(chargeKey) ?? new Set()).add(key))
      return
    }
    const { charge } = record
    this.#charges.set(charge.key, charge)
    this.#references.set(charge.reference, charge.key)
    const number = charge.fields.va_number ?? charge.fields.payment_code
    if (number !== undefined) this.#numbers.add(`${charge.channel}:${number}`)
  }

  // One line for each charge and refund instead of one for each change. Renamed into place: a kill leaves the old or the new one.
  #rewriteJournal(path: string): void {
    this.close()
    const records: JournalRecord[] = [
      ...[...this.#calls].map(([key, times]) => ({ type: 'call' as const, key, times })),
      ...this.all().map((charge) => ({ type: 'charge' as const, charge })),
      ...this.allRefunds().map((refund) => ({ type: 'refund' as const, refund })),
    ]
    writeFileSync(`${path}.new`, records.map((record) => `${JSON.stringify(record)}\n`).join(''), { mode: 0o600 })
    renameSync(`${path}.new`, path)
    this.#journal = openSync(path, 'a', 0o600)
  }
}

function readJournal(path: string): JournalRecord[] {
  let written: string
  try {
    written = readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
  const lines = written.split('\n')
  const cutShort = lines.pop() ?? ''
  const records = lines.map((line, index) => readRecord(line) ?? fail(path, index + 1))
  // A last line may lack nothing but its line end.
  const last = cutShort === '' ? null : readRecord(cutShort)
  return last === null ? records : [...records, last]
}

function readRecord(line: string): JournalRecord | null {
  try {
    const record = JSON.parse(line) as JournalRecord
    return record.type === 'call' || record.type === 'charge' || record.type === 'refund' ? record : null
  } catch {
    return null
  }
}

function fail(path: string, line: number): never {
  throw new Error(`${path}: line ${line} is no record of the simulator's journal; move the file away to start empty`)
}
