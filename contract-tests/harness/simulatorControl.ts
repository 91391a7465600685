/** The simulator's control interface, as `providers/simulator/control.ts` serves it and docs/simulator.md describes it. */
export interface SimulatorControl {
  url: string
  charges(query?: { key?: string, merchant_reference?: string }): Promise<SimulatedCharges>
  refunds(query?: { key?: string }): Promise<{ total: number, refunds: SimulatedRefund[] }>
  /** Makes the next calls behave so: creations, unless `on` names another. */
  next(behaviour: string, options?: NextOptions): Promise<void>
  pay(reference: string, options?: MoveOptions): Promise<MoveAnswer>
  /** Any move of a charge: pay, complete, decline, expire or reverse. */
  move(reference: string, move: string, options?: MoveOptions): Promise<MoveAnswer>
  /** A callback about a charge, true or not; the charge stays as it is. */
  notify(reference: string, options?: { status?: string } & Telling): Promise<MoveAnswer>
  /** Ends a pending refund, or tells of any. */
  moveRefund(reference: string, move: 'succeed' | 'fail' | 'notify', options?: Telling & MoveOptions): Promise<CallbackReports & { refund: SimulatedRefund }>
  /** Holds back callbacks from now on: all, or those about what is named. */
  hold(about?: { key?: string, reference?: string, merchant_reference?: string }): Promise<void>
  held(): Promise<HeldCallback[]>
  /** Sends what was held back, one after another: these in this order, or all in theirs, and then nothing is held back any more. */
  release(ids?: string[], options?: { discard?: boolean, keep_holding?: boolean }): Promise<{ id: string, callback: CallbackAnswer | null }[]>
  /** Does at once what magic amounts put off: who pays late does so if the charge has expired, payments are taken back, refunds end. */
  payLate(): Promise<Record<string, unknown>>
  /** Ends every behaviour and all holding back; charges and refunds stay. */
  clear(): Promise<void>
}

export interface NextOptions {
  on?: 'create' | 'find' | 'expire' | 'refund' | 'find-refund'
  n?: number
  ms?: number
  after?: boolean
  code?: string
  message?: string
  retry_after_seconds?: number
  key?: string
  merchant_reference?: string | null
  channel?: string
}

/** How a callback is told, otherwise than truly, once and signed rightly. */
export interface Telling {
  says?: Record<string, unknown>
  without?: string[]
  signature?: 'right' | 'wrong-secret' | 'stale' | 'missing' | 'malformed' | 'altered-body'
  body?: string
  repeat?: number
}

/** The receiver's answer, why there is none, or under which id the callback is held back. */
export interface CallbackAnswer {
  url: string
  status?: number
  body?: string
  error?: string
  held?: string
}

/** `callback` is the last one; null when none was told. */
export interface CallbackReports {
  callback: CallbackAnswer | null
  callbacks: CallbackAnswer[]
}

export type MoveAnswer = CallbackReports & { charge: SimulatedCharge }

/** Of a move; each takes some of these, and refuses the others. */
export interface MoveOptions {
  amount_idr?: number
  completed_at?: string
  /** The money comes although the charge has ended. */
  force?: boolean
  /** What has ended so already is told again. */
  again?: boolean
  code?: string
  message?: string
  /** Null: nothing is told. */
  callback?: Telling | null
}

export interface HeldCallback {
  id: string
  event: string
  key: string
  reference: string
  merchant_reference: string | null
}

export interface SimulatedCharge {
  reference: string
  key: string
  status: string
  payments: { reference: string, amount_idr: number, completed_at: string, reversed: boolean }[]
  [member: string]: unknown
}

export interface SimulatedRefund {
  reference: string
  key: string
  status: string
  [member: string]: unknown
}

export interface SimulatedCharges {
  total: number
  charges: SimulatedCharge[]
  by_key: Record<string, { charges: number, create_calls: number }>
}

export function simulatorControl(url: string, apiKey: string): SimulatorControl {
  const ask = async <Answer>(method: string, path: string, body?: object): Promise<Answer> => {
    const response = await fetch(url + path, {
      method, headers: { Authorization: `Bearer ${apiKey}`, ...(body && { 'Content-Type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`simulator ${method} ${path}: ${response.status} ${text}`)
    return JSON.parse(text) as Answer
  }
  const move: SimulatorControl['move'] = (reference, name, options = {}) => ask('POST', `/control/charges/${reference}/${name}`, options)
  return {
    url, move,
    charges: (query = {}) => ask('GET', `/control/charges?${new URLSearchParams(query).toString()}`),
    refunds: (query = {}) => ask('GET', `/control/refunds?${new URLSearchParams(query).toString()}`),
    next: (behaviour, options = {}) => ask('POST', '/control/next', { behaviour, ...options }),
    pay: (reference, options) => move(reference, 'pay', options),
    notify: (reference, options = {}) => ask('POST', `/control/charges/${reference}/notify`, options),
    moveRefund: (reference, name, options = {}) => ask('POST', `/control/refunds/${reference}/${name}`, options),
    hold: (about = {}) => ask('POST', '/control/hold', about),
    held: async () => (await ask<{ held: HeldCallback[] }>('GET', '/control/held')).held,
    release: async (ids, options = {}) =>
      (await ask<{ released: { id: string, callback: CallbackAnswer | null }[] }>('POST', '/control/release', { ...(ids && { ids }), ...options })).released,
    payLate: () => ask('POST', '/control/late', {}),
    clear: () => ask('POST', '/control/clear', {}),
  }
}
