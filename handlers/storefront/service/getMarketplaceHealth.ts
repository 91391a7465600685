import type { Handler } from '../handler.ts'

export const getMarketplaceHealth: Handler<'getMarketplaceHealth'> = async ({ reply }) => reply(200, { status: 'ok' })
