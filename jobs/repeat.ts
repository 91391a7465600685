/** A task that goes on until it is stopped. */
export interface Repeated {
  /** Starts no further turn, and resolves when the present one is done. */
  stop(): Promise<void>
}

export interface RepeatOptions {
  everyMs: number
  sleep(milliseconds: number): Promise<void>
  /** A turn that throws is reported here, and the next one comes at its time. */
  report(error: unknown): void
}

/**
 * Calls `turn` until stopped: again at once when it answers true, else after `everyMs`. Turns never overlap; the
 * signal aborts when no further work should be begun.
 */
export function repeat(turn: (halted: AbortSignal) => Promise<boolean>, { everyMs, sleep, report }: RepeatOptions): Repeated {
  const halt = new AbortController()
  let wake = (): void => undefined

  const pause = (): Promise<void> => new Promise((resolve) => {
    wake = resolve
    void sleep(everyMs).then(resolve)
  })

  const run = async (): Promise<void> => {
    while (!halt.signal.aborted) {
      const again = await turn(halt.signal).catch((error: unknown) => {
        report(error)
        return false
      })
      if (!again && !halt.signal.aborted) await pause()
    }
  }

  const running = run()
  return {
    stop: () => {
      halt.abort()
      wake()
      return running
    },
  }
}
