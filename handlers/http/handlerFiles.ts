import { readdir } from 'node:fs/promises'
import type { AnyHandler } from './handler.ts'

/**
 * The handlers below a service's folder, by operationId: `<resource>/<operationId>.ts` exports a function of its own
 * name. Start-up compares them with the document, both ways.
 */
export async function handlersBelow(folder: URL): Promise<Record<string, AnyHandler>> {
  const resources = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isDirectory() && entry.name !== 'guards')
  const files = await Promise.all(resources.map(async ({ name }) => {
    const below = new URL(`${name}/`, folder)
    const names = await readdir(below)
    return names.filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts')).map((file) => ({ name: file.slice(0, -3), url: new URL(file, below) }))
  }))
  const handlers = await Promise.all(files.flat().map(async ({ name, url }) => {
    const loaded = await import(url.href) as Record<string, unknown>
    return [name, loaded[name]] as const
  }))
  return Object.fromEntries(handlers.filter(([, handler]) => typeof handler === 'function')) as Record<string, AnyHandler>
}
