import { randomUUID } from 'node:crypto'
import type { components } from '../../generated/payments.ts'
import type { PaymentsBench } from './payments.ts'

type Intent = components['schemas']['PaymentIntent']

/** What tests of intents do over and over, with one key. */
export interface IntentActs {
  /** Creates an intent; another answer than 201 fails the test. */
  created(body: components['schemas']['PaymentIntentCreate']): Promise<Intent>
  /** As `created`, with the reference of the charge behind its one channel. */
  charged(body: components['schemas']['PaymentIntentCreate']): Promise<{ intent: Intent, id: string, reference: string }>
  read(id: string): Promise<Intent>
  attempts(id: string): Promise<components['schemas']['PaymentAttempt'][]>
  /** Kinds of the intent's events, in the order they were written. */
  kinds(id: string): Promise<string[]>
  /** The last event of a kind. */
  event(id: string, kind: string): Promise<{ event: string, data: { intent: Intent, attempt?: components['schemas']['PaymentAttempt'] } }>
  /** References of the charges made for an intent, oldest first. */
  charges(id: string): Promise<{ reference: string, key: string, status: string }[]>
}

export function intentActs({ call, database, simulator }: PaymentsBench, as: string): IntentActs {
  const created: IntentActs['created'] = async (body) => {
    const answer = await call('createPaymentIntent', { as, body })
    if (answer.status !== 201) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const charges: IntentActs['charges'] = async (id) => {
    const rows = await database.query((sql) => sql<{ id: string }[]>`
      select id from payments.provider_operations where intent_id = ${id} order by created_at, id`)
    const found = await Promise.all(rows.map(async ({ id: key }) => (await simulator.charges({ key })).charges))
    return found.flat()
  }
  return {
    created, charges,
    async charged(body) {
      const intent = await created({ reference_id: `order-${randomUUID()}`, ...body })
      const [charge] = await charges(intent.id)
      if (!charge) throw new Error('the simulator holds no such charge')
      return { intent, id: intent.id, reference: charge.reference }
    },
    async read(id) {
      const answer = await call('getPaymentIntent', { as, params: { id } })
      if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
      return answer.body
    },
    async attempts(id) {
      const answer = await call('listPaymentAttempts', { as, params: { id }, query: { limit: '100' } })
      if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
      return answer.body.attempts
    },
    async kinds(id) {
      const rows = await database.query((sql) => sql<{ kind: string }[]>`select kind from payments.events where intent_id = ${id} order by position`)
      return rows.map(({ kind }) => kind)
    },
    async event(id, kind) {
      const [row] = await database.query((sql) => sql<{ body: string }[]>`
        select body from payments.events where intent_id = ${id} and kind = ${kind} order by position desc limit 1`)
      return JSON.parse(row?.body ?? 'null') as Awaited<ReturnType<IntentActs['event']>>
    },
  }
}
