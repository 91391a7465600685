import { SignInFailed, secondsLeft } from './signIn.ts'
import type { IssuedToken } from './signIn.ts'

/** Someone whose token is kept fresh. */
export interface TokenHolder {
  name: string
  /** Token of an earlier run, if there is one. */
  kept: string | null
  obtain(): Promise<IssuedToken>
}

export interface TokenKeeperOptions {
  issuer: string
  /** Whether the services accept the token still: the issuer may have got other keys since. */
  isAccepted(token: string): Promise<boolean>
  /** Called with every new token, and with null for one that is used up and cannot be had anew yet. */
  changed(name: string, token: string | null): void
  say(line: string): void
}

export interface TokenKeeper {
  /** Resolves when each has been asked for once, whether or not it was got. */
  asked: Promise<void>
  stop(): void
}

const marginSeconds = 120

/** Gets a token for each holder and gets the next one two minutes before it ends, until stopped. */
export function keepTokens(holders: readonly TokenHolder[], options: TokenKeeperOptions): TokenKeeper {
  const { issuer, isAccepted, changed, say } = options
  const timers = new Map<string, NodeJS.Timeout>()
  let stopped = false

  const next = (holder: TokenHolder, seconds: number): void => {
    if (!stopped) timers.set(holder.name, setTimeout(() => void renew(holder), seconds * 1000))
  }

  const renew = async (holder: TokenHolder): Promise<void> => {
    try {
      const { accessToken, seconds } = await holder.obtain()
      changed(holder.name, accessToken)
      next(holder, Math.max(1, seconds - marginSeconds))
    } catch (error) {
      const seconds = error instanceof SignInFailed ? error.retrySeconds : 1
      if (!stopped && seconds > 1) say(`${(error as Error).message}; trying again in ${Math.ceil(seconds)} s`)
      next(holder, seconds)
    }
  }

  const first = async (holder: TokenHolder): Promise<void> => {
    const left = holder.kept === null ? 0 : secondsLeft(holder.kept, issuer, new Date())
    if (holder.kept !== null && left > marginSeconds && await isAccepted(holder.kept).catch(() => false)) {
      changed(holder.name, holder.kept)
      next(holder, left - marginSeconds)
      return
    }
    changed(holder.name, null)
    await renew(holder)
  }

  return {
    asked: Promise.all(holders.map(first)).then(() => undefined),
    stop: () => {
      stopped = true
      for (const timer of timers.values()) clearTimeout(timer)
    },
  }
}
