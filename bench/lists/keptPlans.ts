import { readFileSync } from 'node:fs'
import type { ListName } from './cases.ts'

/** The plans in db/plans, by the heading of their question. */
export function readKeptPlans(): Record<ListName, Map<string, string>> {
  const read = (list: ListName): Map<string, string> => {
    const text = readFileSync(new URL(`../../db/plans/${list}.txt`, import.meta.url), 'utf8')
    return new Map(text.split(/^(?=## )/m).map((part) => [part.split('\n')[0] ?? '', part.trim()]))
  }
  return { listPaymentIntents: read('listPaymentIntents'), listPayments: read('listPayments'), listEvents: read('listEvents') }
}
