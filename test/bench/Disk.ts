/**
 * How slow the disk itself is while something else is measured. A disk shared by several machines stalls from time to time for tenths of a
 * second, and every commit then waits as long: without this beside it, such a figure would describe only the disk.
 */
import { Effect } from "effect"
import { open } from "node:fs/promises"
import { join } from "node:path"

/** Rare enough not to disturb the measurement: a disk makes such writes one after another. */
const EVERY = "100 millis"
/** One page of Postgres. */
const bytes = Buffer.alloc(8192, 1)

/** How many milliseconds a page took each time to reach the disk under `folder`, measured every 100 ms while `run` lasts. */
export const besideDisk = <A, E, R>(folder: string, run: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const syncs: Array<number> = []
    const file = yield* Effect.acquireRelease(
      Effect.promise(() => open(join(folder, "disk"), "w")),
      (opened) => Effect.promise(() => opened.close())
    )
    const sync = Effect.promise(async () => {
      const began = performance.now()
      await file.write(bytes, 0, bytes.length, 0)
      await file.datasync()
      syncs.push(performance.now() - began)
    })
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(sync, Effect.sleep(EVERY))))
    return { result: yield* run, syncs }
  }).pipe(Effect.scoped)
