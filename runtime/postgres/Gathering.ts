/**
 * Batches writes that arrive at the same time. The first item is written at once. While its statement is running, and while its lane rests
 * afterwards, others gather, and all of them go next: the busier the database, the more items share a statement, and a lone item never waits.
 */
import { Deferred, Effect, Exit, FiberSet, Semaphore } from "effect"
import { isAway } from "./sqlState.ts"

/** Beyond this many items per statement, each hardly gets cheaper, and rows are locked for longer. */
const MOST_TOGETHER = 50

interface Options<Item, Result> {
  /** The most items per statement. */
  readonly most?: number
  /** The most statements running at once. */
  readonly atOnce: number
  /** How long a lane rests after a statement, unless a full batch is already waiting. */
  readonly restMillis?: number
  /** A single statement that writes all of the items or none. The results are in the same order. */
  readonly write: (items: ReadonlyArray<Item>) => Effect.Effect<ReadonlyArray<Result>>
}

interface Waiting<Item, Result> {
  readonly item: Item
  readonly written: Deferred.Deferred<Result>
}

/**
 * Returns a function that writes an item. Items of the same lane are written one statement after another, so a lane should stand for something
 * on which they would block each other anyway, such as a campaign's row. An interrupted caller's item is still written.
 */
export const makeGathering = Effect.fnUntraced(function* <Lane, Item, Result>({
  atOnce,
  most = MOST_TOGETHER,
  restMillis = 0,
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
        // One item that cannot be written must not fail the others.
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
    const rest = Effect.suspend(() => (restMillis === 0 || waiting.length >= most ? Effect.void : Effect.sleep(restMillis)))
    return Effect.gen(function* () {
      // The batch is taken only once the statement may run, with everything that has arrived by then.
      while (waiting.length > 0) yield* Effect.andThen(statements.withPermits(1)(next), rest)
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
