/** The simulator's control interface, as `providers/simulator` serves it. */
export interface SimulatorControl {
  url: string
  charges(query?: { key?: string, merchant_reference?: string }): Promise<SimulatedCharges>
  /** Makes the next creations behave so. */
  next(behaviour: string, options?: Record<string, unknown>): Promise<void>
  pay(reference: string, options?: Record<string, unknown>): Promise<Record<string, unknown>>
  /** Any move of a charge: pay, complete, decline, expire or reverse. */
  move(reference: string, move: string, options?: Record<string, unknown>): Promise<Record<string, unknown>>
  /** Lets those pay whose time has run out, and who pay late. */
  payLate(): Promise<Record<string, unknown>>
}

export interface SimulatedCharges {
  total: number
  charges: { reference: string, key: string, status: string, [member: string]: unknown }[]
  by_key: Record<string, { charges: number, create_calls: number }>
}

export function simulatorControl(url: string, apiKey: string): SimulatorControl {
  const ask = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
    const response = await fetch(url + path, {
      method, headers: { Authorization: `Bearer ${apiKey}`, ...(body && { 'Content-Type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`simulator ${method} ${path}: ${response.status} ${text}`)
    return (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>
  }
  return {
    url,
    charges: async (query = {}) => await ask('GET', `/control/charges?${new URLSearchParams(query).toString()}`) as unknown as SimulatedCharges,
    next: async (behaviour, options = {}) => void await ask('POST', '/control/next', { behaviour, ...options }),
    pay: (reference, options = {}) => ask('POST', `/control/charges/${reference}/pay`, options),
    move: (reference, move, options = {}) => ask('POST', `/control/charges/${reference}/${move}`, options),
    payLate: () => ask('POST', '/control/late', {}),
  }
}
