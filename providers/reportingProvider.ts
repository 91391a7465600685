import type { PaymentProvider } from './paymentProvider.ts'

/** A provider refused a call for what an operator must mend: a credential, a channel that is not switched on for us. */
export interface ProviderMisconfigured {
  readonly provider: string
  readonly call: 'createCharge' | 'findCharge' | 'expireCharge' | 'refund' | 'findRefund'
  /** Our key of the charge or the refund. */
  readonly key: string
  readonly reason: string
}

/** The same provider; `report` is told of every call that it refused as misconfigured, whatever its caller makes of that. */
export function reportingProvider(provider: PaymentProvider, report: (problem: ProviderMisconfigured) => void): PaymentProvider {
  const told = async <Result extends { readonly outcome: string; readonly reason?: string }>(
    call: ProviderMisconfigured['call'], key: string, result: Promise<Result>,
  ): Promise<Result> => {
    const { outcome, reason = '' } = await result
    if (outcome === 'misconfigured') report({ provider: provider.name, call, key, reason })
    return result
  }
  const { name, capabilities, callbackHeaders, sandbox } = provider
  return {
    name, capabilities, callbackHeaders, ...(sandbox && { sandbox }),
    createCharge: (request, withinMs) => told('createCharge', request.key, provider.createCharge(request, withinMs)),
    findCharge: (charge, withinMs) => told('findCharge', charge.key, provider.findCharge(charge, withinMs)),
    expireCharge: (charge) => told('expireCharge', charge.key, provider.expireCharge(charge)),
    refund: (request) => told('refund', request.key, provider.refund(request)),
    findRefund: (refund) => told('findRefund', refund.key, provider.findRefund(refund)),
    verifyCallback: (received, secret) => provider.verifyCallback(received, secret),
    parseCallback: (rawBody) => provider.parseCallback(rawBody),
  }
}
