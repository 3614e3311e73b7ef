/**
 * What the disk itself takes while something else is measured. A disk that several machines share stands still now and then for tenths of
 * a second, and whoever waits for a commit then waits as long: without this beside it, such a figure would tell of the disk alone.
 */
import { Effect } from "effect"
import { open } from "node:fs/promises"
import { join } from "node:path"

/** Seldom enough that whoever is measured does not notice: a disk makes one such write after the other. */
const EVERY = "100 millis"
/** A page of Postgres. */
const bytes = Buffer.alloc(8192, 1)

/** Milliseconds that one page took each time until it was on the disk under `folder`, asked every 100 ms for as long as `run` lasts. */
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
