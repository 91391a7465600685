export interface GatherOptions<Item, Result> {
  /** Items of one go, at most. */
  most: number
  /** Does them together; answers one result for each, in their order. */
  work(items: readonly Item[]): Promise<readonly Result[]>
}

/**
 * Does many things together that come one by one: the first at once, and whatever comes while that is under way in the
 * next go. So nothing waits while there is little to do, and the more there is the less each costs.
 */
export function gather<Item, Result>({ most, work }: GatherOptions<Item, Result>): (item: Item) => Promise<Result> {
  const waiting: { item: Item, done: PromiseWithResolvers<Result> }[] = []
  let working = false

  const go = async (): Promise<void> => {
    while (waiting.length > 0) {
      const entries = waiting.splice(0, most)
      try {
        const results = await work(entries.map(({ item }) => item))
        entries.forEach(({ done }, at) => done.resolve(results[at] as Result))
      } catch (error) {
        for (const { done } of entries) done.reject(error)
      }
    }
    working = false
  }

  return (item) => {
    const done = Promise.withResolvers<Result>()
    waiting.push({ item, done })
    if (!working) {
      working = true
      void go()
    }
    return done.promise
  }
}
