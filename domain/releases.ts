/** Version of the platform: `info.version` of the documents. */
export const version = '0.39.0'

/** The release history, newest first; up to v0.35.1 it is the table of the payments brief. */
export const releases: readonly { version: string, date: string, changes: readonly string[] }[] = [
  {
    version: 'v0.39.0', date: '2026-11-21',
    changes: ['At most 50 webhook subscriptions of a merchant', 'Slow webhook receivers hold up nobody else, however many there are'],
  },
  {
    version: 'v0.38.0', date: '2026-11-21',
    changes: [
      'Provider callbacks confirmed before money moves; cases for money that does not fit', 'Webhook deliveries, dead letters, replays, resends, secret rotation, event catalogue',
      'Lists and search at scale', 'Hosted checkout in two languages, dark and printed', 'Documentation at /docs',
    ],
  },
  {
    version: 'v0.37.0', date: '2026-11-21',
    changes: ['Lists, cancellation and sandbox moves of payment intents', 'Hosted checkout', 'Signed webhooks', 'API keys', 'Channels', 'Token refresh and log-out'],
  },
  { version: 'v0.36.0', date: '2026-11-21', changes: ['Payment intents, provider callbacks, log-in and service tokens on the contract pipeline.'] },
  { version: 'v0.35.1', date: '2026-07-13', changes: ['Maintenance release.'] },
  { version: 'v0.35.0', date: '2026-07-10', changes: ['POST /v1/auth/step-up', '401 insufficient_user_authentication on sensitive mutations'] },
  { version: 'v0.34.0', date: '2026-07-05', changes: ['Tenant hierarchy (PUT /v1/admin/tenants/{tenantId}/parent, parent_tenant_id)'] },
  { version: 'v0.30.0', date: '2026-06-10', changes: ['Access tokens carry role bindings', 'GET /v1/me returns a permissions array', 'POST /v1/check unchanged'] },
  { version: 'v0.29.0', date: '2026-06-05', changes: ['POST /v1/auth/enter-sandbox'] },
  { version: 'v0.28.0', date: '2026-06-04', changes: ['API-key rotation', 'Signing-key rotation'] },
  { version: 'v0.19.1', date: '2026-05-21', changes: ['Invoice resend (at most 5) and void'] },
  { version: 'v0.19.0', date: '2026-05-21', changes: ['Notification preferences', 'Reconciliation questions'] },
  { version: 'v0.18.1', date: '2026-05-18', changes: ['Pay-later channels and card_3ds with 3ds-callback'] },
  { version: 'v0.17.0', date: '2026-05-18', changes: ['Cases endpoints'] },
  { version: 'v0.14.2', date: '2026-05-17', changes: ['API key scopes and expires_at'] },
  { version: 'v0.14.1', date: '2026-05-17', changes: ['Webhook URLs must be https'] },
  {
    version: 'v0.13.0', date: '2026-05-15',
    changes: [
      'First-generation API: sk_test_ and sk_live_ prefixes, hosted checkout, refunds, disbursements',
      '401 invalid_api_key became 403 env_mismatch', '403 scope_forbidden became 403 insufficient_scope', '422 invalid_metadata became 400 metadata_too_large',
    ],
  },
]
