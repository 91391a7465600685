import { provesWritable } from '../../../db/readiness.ts'
import type { Handler } from '../handler.ts'

export const getMarketplaceReadiness: Handler<'getMarketplaceReadiness'> = async ({ app, fail, reply, sql }) => {
  if (app.isDraining()) fail('unavailable', { message: 'The process is about to end.' })
  if (!(await provesWritable(sql))) fail('unavailable', { message: 'The database takes no writes.' })
  return reply(200, { status: 'ready' })
}
