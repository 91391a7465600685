import { Refusal } from './exchange.ts'

/** What a callback is about; a filter names some of these. */
export interface CallbackAbout {
  /** Of the charge, or of the refund. */
  readonly key: string
  readonly reference: string
  readonly merchantReference: string | null
}

export type HoldFilter = { readonly [Member in keyof CallbackAbout]: string | null }

/** A callback that waits for its release. */
export interface HeldCallback {
  readonly id: string
  readonly about: CallbackAbout
  readonly event: string
  /** Signed when it is sent, not when it arose. */
  send(): Promise<unknown>
}

/** Callbacks that a tester holds back, to let them go late, in another order, or never. They end with the process. */
export class HeldCallbacks {
  #filters: HoldFilter[] = []
  #waiting: HeldCallback[] = []
  #serial = 0

  /** Holds back what matches from now on; null matches all. */
  hold(filter: HoldFilter): void {
    this.#filters.push(filter)
  }

  holds(about: CallbackAbout): boolean {
    return this.#filters.some((filter) =>
      (filter.key === null || filter.key === about.key) && (filter.reference === null || filter.reference === about.reference)
      && (filter.merchantReference === null || filter.merchantReference === about.merchantReference))
  }

  add(callback: Omit<HeldCallback, 'id'>): HeldCallback {
    this.#serial += 1
    const held = { ...callback, id: `held-${this.#serial}` }
    this.#waiting.push(held)
    return held
  }

  /** In the order in which they arose. */
  list(): readonly HeldCallback[] {
    return this.#waiting
  }

  /** Takes these out, in this order; all, in theirs, unless told. Throws a Refusal (404) for one that is not there. */
  take(ids: readonly string[] | null): HeldCallback[] {
    const taken = ids === null ? this.#waiting : ids.map((id) => {
      const found = this.#waiting.find((held) => held.id === id)
      if (found === undefined) throw new Refusal(404, 'callback_not_held', `no callback ${id} is held`)
      return found
    })
    this.#waiting = this.#waiting.filter((held) => !taken.includes(held))
    return taken
  }

  /** Holds back nothing more; what waits goes on waiting. */
  stopHolding(): void {
    this.#filters = []
  }

  clear(): void {
    this.#filters = []
    this.#waiting = []
  }
}
