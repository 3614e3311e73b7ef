/**
 * Writes together what comes at the same time. The first item goes at once. While its statement is under way others gather, and all of them go
 * next: the busier the database is, the more share a statement, and nothing ever waits for a timer.
 */
import { Deferred, Effect, Exit, FiberSet, Semaphore } from "effect"
import { isAway } from "./sqlState.ts"

/** With more items in a statement each hardly costs less, and rows are locked for longer. */
const MOST_TOGETHER = 50

interface Options<Item, Result> {
  /** At most so many items share a statement. */
  readonly most?: number
  /** At most so many statements run at once. */
  readonly atOnce: number
  /** One statement, which writes all of the items or none. The results are in the same order. */
  readonly write: (items: ReadonlyArray<Item>) => Effect.Effect<ReadonlyArray<Result>>
}

interface Waiting<Item, Result> {
  readonly item: Item
  readonly written: Deferred.Deferred<Result>
}

/**
 * Returns a function that writes an item. Items of the same lane go one statement after the other, so a lane should be what they would wait for
 * each other for anyway, such as the row of a campaign. An interrupted caller's item is written all the same.
 */
export const makeGathering = Effect.fnUntraced(function* <Lane, Item, Result>({
  atOnce,
  most = MOST_TOGETHER,
  write
}: Options<Item, Result>) {
  type Batch = ReadonlyArray<Waiting<Item, Result>>
  const fork = yield* FiberSet.makeRuntime()
  const statements = yield* Semaphore.make(atOnce)
  const lanes = new Map<Lane, Array<Waiting<Item, Result>>>()

  const settle = (batch: Batch, exitOf: (index: number) => Exit.Exit<Result>) => {
    for (const [index, { written }] of batch.entries()) Deferred.doneUnsafe(written, exitOf(index))
  }
  const writeBatch = (batch: Batch): Effect.Effect<void> =>
    Effect.matchCauseEffect(
      Effect.suspend(() => write(batch.map(({ item }) => item))),
      {
        // One item that cannot be written must not take the others with it.
        onFailure: (cause) =>
          batch.length > 1 && !isAway(cause)
            ? Effect.forEach(batch, (one) => writeBatch([one]), { discard: true })
            : Effect.sync(() => settle(batch, () => Exit.failCause(cause))),
        onSuccess: (results) =>
          Effect.sync(() =>
            settle(batch, (index) => {
              const result = results[index]
              return result === undefined ? Exit.die(new Error("a statement has fewer results than items")) : Exit.succeed(result)
            })
          )
      }
    )
  const drain = (lane: Lane, waiting: Array<Waiting<Item, Result>>) => {
    let batch: Batch = []
    const next = Effect.suspend(() => {
      batch = waiting.splice(0, most)
      return writeBatch(batch)
    })
    return Effect.gen(function* () {
      // Taken once the statement may run, with all that has come by then.
      while (waiting.length > 0) yield* statements.withPermits(1)(next)
      lanes.delete(lane)
    }).pipe(Effect.onInterrupt(() => Effect.sync(() => settle([...batch, ...waiting], () => Exit.interrupt()))))
  }

  return (lane: Lane, item: Item): Effect.Effect<Result> =>
    Effect.suspend(() => {
      const written = Deferred.makeUnsafe<Result>()
      const waiting = lanes.get(lane)
      if (waiting !== undefined) waiting.push({ item, written })
      else {
        const begun = [{ item, written }]
        lanes.set(lane, begun)
        fork(drain(lane, begun))
      }
      return Deferred.await(written)
    })
})
