import { existsSync, watch } from 'node:fs'
import { join, relative } from 'node:path'
import type { ProcessName } from '../domain/configuration.ts'

const folders = ['spec', 'generated', 'domain', 'db', 'providers', 'jobs', 'handlers', 'pages']
const settleMs = 150

/** Calls `changed` with the paths of sources that changed together, never twice at a time. Returns what ends it. */
export function watchSources(root: string, changed: (paths: readonly string[]) => Promise<void>): () => void {
  const waiting = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let busy = false

  const settle = async (): Promise<void> => {
    if (busy) return
    busy = true
    while (waiting.size > 0) {
      const paths = [...waiting].toSorted()
      waiting.clear()
      await changed(paths)
    }
    busy = false
  }

  const watchers = folders.filter((folder) => existsSync(join(root, folder))).map((folder) =>
    watch(join(root, folder), { recursive: true }, (_, name) => {
      if (name === null || !isSource(name)) return
      waiting.add(relative(root, join(root, folder, name)))
      clearTimeout(timer)
      timer = setTimeout(() => void settle(), settleMs)
    }))
  return () => {
    clearTimeout(timer)
    for (const watcher of watchers) watcher.close()
  }
}

function isSource(name: string): boolean {
  return /\.(ts|json|ya?ml|sql|css)$/.test(name) && !/\.test\.ts$|(^|\/)\./.test(name)
}

/** Whether the documents have to be generated again before anything is started. */
export function touchesDocuments(paths: readonly string[]): boolean {
  return paths.some((path) => path.startsWith('spec/'))
}

export function touchesMigrations(paths: readonly string[]): boolean {
  return paths.some((path) => path.startsWith('db/migrations/'))
}

/** The processes that use what changed: a service alone when only its own handlers did. */
export function processesUsing(paths: readonly string[]): readonly ProcessName[] {
  const own = paths.map((path) => /^handlers\/(payments|storefront|identity)\//.exec(path)?.[1] as ProcessName | undefined
    ?? (path.startsWith('providers/simulator/') ? 'simulator' : undefined))
  const named = own.filter((name) => name !== undefined)
  return named.length === own.length ? [...new Set(named)] : ['payments', 'storefront', 'identity', 'simulator', 'worker']
}
