/** What every client can do; its own types must fit without a cast. Money, states and codes are read, never listed. */
export interface ClientJourney {
  logIn(email: string, password: string, code: () => string): Promise<void>
  tenantId(): Promise<string | null>
  create(body: { amount_idr: number, max_uses: number, allowed_channels: string[], reference_id: string }, key: string): Promise<ClientAnswer>
  get(id: string): Promise<ClientAnswer>
}

export interface ClientAnswer {
  status: number
  intent: { id: string, status: string, paid_idr: number, allowed_channels: string[], environment: string } | null
  code: string | null
}

export type Journey = (urls: { identityUrl: string, paymentsUrl: string }) => ClientJourney
