import type { Handler } from '../handler.ts'

export const getHealth: Handler<'getHealth'> = async ({ reply }) => reply(200, { status: 'ok' })
