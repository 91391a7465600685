import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { channelCodes, channelOf } from '../domain/channels.ts'
import type { Channel } from '../domain/channels.ts'
import { defaultOf } from '../domain/configuration.ts'
import { magicAmounts } from '../providers/simulator/magicAmounts.ts'
import type { MagicAmount } from '../providers/simulator/magicAmounts.ts'
import { root } from './steps.ts'

interface ErrorCode {
  status: number
  message: string
  description: string
  remedy: string
}

/** As many operations of a code are named; of more only the number. */
const namedAtMost = 12

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('')
}

/** Every operation of the three documents, with the codes it declares. */
function operations(): { id: string, codes: readonly string[] }[] {
  return read('generated/operations.txt').split('\n').slice(2).filter((line) => line !== '').map((line) => {
    const [id = ''] = line.split(/\s+/)
    return { id, codes: line.trim().split(/\s+/).at(-1)?.split(',') ?? [] }
  })
}

/** Every error code that an operation gives: cause, remedy, and where. */
export function errorCatalogue(): string {
  const all = operations()
  const catalogue = Object.entries(parse(read('spec/http/error-codes.yaml')) as Record<string, ErrorCode>)
  const givers = (code: string): string[] => all.filter(({ codes }) => codes.includes(code)).map(({ id }) => id).sort()
  const given = catalogue.filter(([code]) => givers(code).length > 0)
  const entry = (code: string, { description, message, remedy }: ErrorCode): string => {
    const ids = givers(code)
    const where = ids.length > namedAtMost ? `${ids.length} of ${all.length} operations` : ids.map((id) => `\`${id}\``).join(', ')
    return `\n### ${code}\n\n${message}\n\n- **Cause:** ${description.trim()}\n- **What to do:** ${remedy.trim()}\n- **Given by:** ${where}.\n`
  }
  return [...Map.groupBy(given, ([, { status }]) => status)].sort(([one], [other]) => one - other)
    .map(([status, codes]) => `\n## ${status}\n${codes.map(([code, told]) => entry(code, told)).join('')}`).join('').trimStart()
}

/** What each channel is, from the table the program runs on. */
export function channelTable(): string {
  return table(['code', 'time to pay', 'amount', 'settled', 'refund', 'members of its own'], channelCodes.map((code) => {
    const channel = channelOf(code)
    const { max_amount_idr, min_amount_idr, multi_use, refund, refund_window_days, settlement, typed_fields } = channel
    return [
      `\`${code}\``, life(channel), `${rupiah(min_amount_idr)} to ${rupiah(max_amount_idr)}`,
      multi_use ? `${settlement}, static ${multi_use.settlement}` : settlement,
      refund_window_days === null ? refund : `${refund}, within ${refund_window_days} days`,
      typed_fields.length === 0 ? 'none' : typed_fields.map((name) => `\`${name}\``).join(', '),
    ]
  }))
}

function life({ multi_use, ttl_seconds }: Channel): string {
  if (ttl_seconds === null) return 'no limit'
  return multi_use ? `${inWords(ttl_seconds)}, static ${inWords(multi_use.ttl_seconds)}` : inWords(ttl_seconds)
}

function inWords(seconds: number): string {
  if (seconds > 86_400) return `${seconds / 86_400} days`
  return seconds >= 3600 ? `${seconds / 3600} h` : `${seconds / 60} min`
}

function rupiah(amount: number): string {
  return `Rp ${amount.toLocaleString('id-ID')}`
}

/** The codes that end a card's challenge in the sandbox, unless the deployment sets others. */
export function cardCodeTable(): string {
  return table(['`auth_code`', 'outcome', 'event'], [
    [`\`${defaultOf('SANDBOX_APPROVE_CODE') ?? ''}\``, 'approved: the intent is paid', '`payment.completed`'],
    [`\`${defaultOf('SANDBOX_DECLINE_CODE') ?? ''}\``, 'declined: the attempt fails', '`payment.failed`'],
  ])
}

/** The amounts with a meaning, from the table that the simulator runs on. */
export function magicAmountTable(): string {
  const about = ({ completion, creation }: MagicAmount): string => creation !== null ? 'creating' : completion !== null ? 'paying' : 'refunding'
  return table(['`amount_idr`', 'decides about', 'what happens'], magicAmounts.map((row) => [`\`${row.amountIdr}\``, about(row), row.meaning]))
}
