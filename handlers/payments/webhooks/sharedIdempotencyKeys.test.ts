import { expect, test } from 'vitest'
import { startPayments } from '../../../contract-tests/harness/payments.ts'
import { startReceiver } from '../../../contract-tests/harness/receiver.ts'
import { trusting, webhooksOf } from '../../../contract-tests/harness/webhooks.ts'

const receiver = await startReceiver()
const bench = await startPayments({ settings: trusting(receiver) })
const { call, given, issuer } = bench
const hooks = webhooksOf(bench, receiver)

test('of two people of one tenant who reach several merchants each, one is never shown what the other was answered under the same key', async () => {
  const one = await given.merchant()
  const { tenantId } = one
  const [two, three, four] = [await given.merchant({ tenantId }), await given.merchant({ tenantId }), await given.merchant({ tenantId })]
  const owner = (...merchants: readonly { id: string }[]) => issuer.token({
    tenantId, bindings: merchants.map(({ id }) => ({ role: 'merchant_owner', scope: `merchant:${id}` })),
  })
  const { id } = await hooks.subscribe(one, ['payment.completed'])
  const rotate = async (as: string) => call('rotateWebhookSecret', { as, params: { id }, key: 'rotation-of-november' })
  const mine = await owner(one, two)
  const first = await rotate(mine)
  expect(first.status).toBe(200)
  expect(await rotate(mine)).toMatchObject({ status: 200, body: first.body })
  expect(await rotate(await owner(three, four))).toMatchObject({ status: 409, body: { error: 'idempotency_key_reused' } })
})
