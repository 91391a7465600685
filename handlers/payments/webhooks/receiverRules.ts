import { webhookUrlProblem } from '../../../domain/publicAddress.ts'
import { isEventKind } from '../../../domain/webhookEvents.ts'
import type { Fail } from '../../http/handler.ts'
import type { PaymentsApp } from '../handler.ts'

/** Refuses a url that is never sent to, and event kinds that there are not (decisions 6.1 and 6.8). */
export function refuseReceiver(
  { url, events }: { url?: string, events?: readonly string[] }, { configuration }: Pick<PaymentsApp, 'configuration'>, fail: Fail<'validation_failed'>,
): void {
  const fields: Record<string, string> = {}
  const problem = url === undefined ? null : webhookUrlProblem(url, configuration.WEBHOOK_ALLOW_PRIVATE === 'on')
  if (problem !== null) fields.url = problem
  const unknown = (events ?? []).filter((kind) => !isEventKind(kind))
  if (unknown.length > 0) fields.events = `unknown: ${unknown.join(', ')}`
  if (Object.keys(fields).length > 0) fail('validation_failed', { fields })
}
