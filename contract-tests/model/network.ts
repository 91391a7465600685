import { signCallback } from '../../providers/callbackSignature.ts'

/**
 * How the provider treats the calls of one step. `silent before`: the call is lost on its way. `silent after`: it is
 * done, and its answer lost. `calls back first`: a new charge is paid, and told, before its creation is answered.
 */
export type Mood = 'well' | 'silent before' | 'silent after' | 'error 500' | 'too many calls' | 'declines' | 'calls back first'

/** A charge as the provider itself tells of it. */
export interface ChargeView {
  reference: string
  key: string
  merchant_reference: string
  channel: string
  amount_idr: number
  multi_use: boolean
  status: 'pending' | 'paid' | 'failed' | 'expired' | 'reversed'
  decline: { code: string } | null
  expires_at: string
  payments: { reference: string, amount_idr: number, completed_at: string, reversed: boolean }[]
}

/** What the service was told in answer to a call. */
export type Told =
  | { by: 'create' | 'find' | 'expire' | 'move', key: string, charge: ChargeView }
  | { by: 'create', key: string, refused: string }
  | { by: 'find', key: string, absent: true }

/** A callback. */
export interface Letter {
  body: string
  key: string
  status: string
  amount: number
  currency: string
  merchantReference: string
  paymentReference: string | null
}

export function letterOf(body: string): Letter {
  const { key, status, amount_idr: amount, currency, merchant_reference: merchantReference, payment_reference: paymentReference } = JSON.parse(body) as {
    key: string, status: string, amount_idr: number, currency: string, merchant_reference: string, payment_reference: string | null
  }
  return { body, key, status, amount, currency, merchantReference, paymentReference }
}

/** The network between service and provider, under the model's control: nothing arrives that it does not let through. */
export interface ProviderNetwork {
  toProvider: typeof fetch
  fromProvider: typeof fetch
  mood: Mood
  /** Whether callbacks are delivered as they are sent, or kept in `letters`. */
  deliversAtOnce: boolean
  letters: Letter[]
  /** Every callback that has been delivered, or may have been. */
  delivered: Letter[]
  /** Every charge that there is, as last seen; by our key, oldest first. */
  charges: Map<string, ChargeView>
  /** What the service was told in this step, in order. */
  told: Told[]
  /** Notes what the provider told the test itself. */
  see(charge: unknown): ChargeView
  forget(): void
}

/** `payAtOnce` lets the payer of a new charge pay, and delivers what is told of it, before the creation is answered. */
export function providerNetwork(payAtOnce: (charge: ChargeView) => Promise<void>): ProviderNetwork {
  const see = (charge: unknown): ChargeView => {
    const view = charge as ChargeView
    network.charges.set(view.key, view)
    return view
  }

  /** Does the call. What the answer says of charges is noted, whether it arrives or not. */
  const done = async (call: ProviderCall, input: Parameters<typeof fetch>[0], init: RequestInit | undefined): Promise<{ response: Response, told: Told[] }> => {
    const answer = await fetch(input, init)
    const text = await answer.text()
    const response = new Response(text, answer)
    const json = JSON.parse(text) as { charges?: unknown[], charge?: unknown, code?: string }
    if (!answer.ok) return { response, told: call.by === 'create' ? [{ by: 'create', key: call.key, refused: json.code ?? '' }] : [] }
    const charges = json.charges ?? [json.charge ?? json]
    if (charges.length === 0) return { response, told: [{ by: 'find', key: call.key, absent: true }] }
    return { response, told: charges.map(see).map((charge) => ({ by: call.by, key: charge.key, charge })) }
  }

  const network: ProviderNetwork = {
    mood: 'well', deliversAtOnce: false, letters: [], delivered: [], charges: new Map(), told: [], see,
    forget() {
      network.letters = []
      network.delivered = []
      network.charges.clear()
      network.told = []
    },
    async toProvider(input, init) {
      const call = readCall(input, init)
      const creates = call.by === 'create'
      const { mood } = network
      if (mood === 'silent before') throw timedOut()
      if (mood === 'error 500') return Response.json({ code: 'provider_error', message: 'the provider failed' }, { status: 500 })
      if (mood === 'too many calls') return Response.json({ code: 'too_many_calls', message: 'later' }, { status: 429, headers: { 'retry-after': '30' } })
      if (mood === 'declines' && creates) {
        network.told.push({ by: 'create', key: call.key, refused: 'CHARGE_DECLINED' })
        return Response.json({ code: 'CHARGE_DECLINED', message: 'The charge was declined.' }, { status: 422 })
      }
      const { response, told } = await done(call, input, init)
      if (mood === 'calls back first' && creates && told[0] && 'charge' in told[0]) await payAtOnce(told[0].charge)
      if (mood === 'silent after') throw timedOut()
      network.told.push(...told)
      return response
    },
    async fromProvider(input, init) {
      const letter = letterOf(Buffer.from(init?.body as Uint8Array).toString())
      network[network.deliversAtOnce ? 'delivered' : 'letters'].push(letter)
      return network.deliversAtOnce ? fetch(input, init) : new Response('')
    },
  }
  return network
}

interface ProviderCall {
  by: Told['by']
  /** Our key, where the call carries it. */
  key: string
}

function readCall(input: Parameters<typeof fetch>[0], init: RequestInit | undefined): ProviderCall {
  const { pathname, searchParams } = new URL(input instanceof Request ? input.url : input)
  if (pathname === '/charges' && init?.method === 'POST') return { by: 'create', key: (JSON.parse(init.body as string) as { key: string }).key }
  if (pathname === '/charges') return { by: 'find', key: searchParams.get('key') ?? '' }
  return { by: pathname.startsWith('/control/') ? 'move' : 'expire', key: searchParams.get('key') ?? '' }
}

function timedOut(): Error {
  return new DOMException('The operation was aborted due to timeout', 'TimeoutError')
}

/** The headers of a callback, signed anew whenever it is delivered, as a provider does that tries again. */
export function callbackHeaders(secret: string, body: string, now: Date): Record<string, string> {
  return { 'content-type': 'application/json', 'x-simulator-signature': signCallback(secret, Buffer.from(body), now) }
}
