/** Most items at work at a time. */
export const atATime = 8

export interface Sweep<Item> {
  list(): Promise<readonly Item[]>
  /** False: it came to nothing for now, as when a provider is silent; then there is no hurry to go on. */
  resume(item: Item): Promise<boolean | void>
  failed(error: unknown, item: Item): void
  /** Once aborted no further item is begun. */
  halted: AbortSignal
  /** As many as `list` answers when there may be more; default 16. */
  batch?: number
}

/**
 * Resumes what is listed, a few at a time. True when there may be more and all of it came to something: then it is
 * worth going on at once.
 */
export async function sweep<Item>({ list, resume, failed, halted, batch = 2 * atATime }: Sweep<Item>): Promise<boolean> {
  const due = await list()
  const rest = due.values()
  let vain = 0
  const worker = async (): Promise<void> => {
    for (const item of rest) {
      if (halted.aborted) return
      try {
        if (await resume(item) === false) vain += 1
      } catch (error) {
        vain += 1
        failed(error, item)
      }
    }
  }
  await Promise.all(Array.from({ length: atATime }, worker))
  return due.length >= batch && vain === 0
}
