import type { Configuration } from '../domain/configuration.ts'
import type { Runtime } from '../domain/runtime.ts'
import type { PaymentProvider } from './paymentProvider.ts'
import { reportingProvider } from './reportingProvider.ts'
import type { ProviderMisconfigured } from './reportingProvider.ts'
import { SimulatorProvider } from './simulatorProvider.ts'

/**
 * The payment providers of this deployment, by the name that operation rows carry. The simulator serves sandbox alone.
 * `report` is told when a provider refuses us as misconfigured: only an operator can mend that.
 */
export function paymentProviders(
  configuration: Configuration, runtime: Runtime, report: (problem: ProviderMisconfigured) => void,
): ReadonlyMap<string, PaymentProvider> {
  if (configuration.BAYAR_ENV !== 'sandbox') return new Map()
  const simulator = new SimulatorProvider({
    baseUrl: configuration.SIMULATOR_URL, apiKey: configuration.SIMULATOR_API_KEY, callLimitMs: configuration.PROVIDER_TIMEOUT_MS, runtime,
  })
  return new Map<string, PaymentProvider>([[simulator.name, reportingProvider(simulator, report)]])
}

/** The provider that takes a charge in this deployment; null when there is none. */
export function providerName(configuration: Configuration): string | null {
  return configuration.BAYAR_ENV === 'sandbox' ? 'simulator' : null
}
