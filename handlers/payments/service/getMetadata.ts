import { releases, version } from '../../../domain/releases.ts'
import type { Handler } from '../handler.ts'

const bodyBytes = 262_144
const pageLimitMax = 100

export const getMetadata: Handler<'getMetadata'> = async ({ app: { configuration }, reply }) => reply(200, {
  service: 'payments',
  version,
  environment: configuration.BAYAR_ENV,
  releases: releases.map(({ changes, ...release }) => ({ ...release, changes: [...changes] })),
  limits: {
    requests_per_second: configuration.RATE_LIMIT_PER_CALLER,
    burst: configuration.RATE_LIMIT_PER_CALLER * 2,
    public_requests_per_second: configuration.RATE_LIMIT_PER_ADDRESS,
    body_bytes: bodyBytes,
    page_limit_max: pageLimitMax,
  },
  egress_addresses: [...configuration.BAYAR_EGRESS_ADDRESSES],
})
