/**
 * A request that a service refuses before it has answered is sent again where that promises an answer: at once with the next of several keys, or
 * after a short wait that the service has asked for. Nothing of an answer is ever repeated.
 */
import { Duration, Effect, Scope, Stream } from "effect"
import type { LanguageModel, ModelError, ModelPart, ModelRequest, OpenLanguageModel } from "./LanguageModel.ts"

/** The callee waits as well. */
const longestWaitMillis = 2000

/** Another key may be accepted. */
const isOfKey = ({ reason }: ModelError): boolean => reason === "auth" || reason === "credit" || reason === "rate_limited"

/** `open` opens the model with one of its keys, which are numbered from 0. The conversation stays with the key that was last accepted. */
export const openWithRetries = (keys: number, first: () => number, open: (key: number) => OpenLanguageModel): OpenLanguageModel =>
  Effect.gen(function* () {
    const scope = yield* Scope.Scope
    const opened = new Map<number, LanguageModel>()
    const openOnce = Effect.fnUntraced(function* (key: number) {
      const model = opened.get(key) ?? (yield* Effect.provideService(open(key), Scope.Scope, scope))
      opened.set(key, model)
      return model
    })
    let current = first() % keys
    const model = yield* openOnce(current)

    const ask = (request: ModelRequest, othersLeft: number, mayWait: boolean): Stream.Stream<ModelPart, ModelError> =>
      Stream.suspend(() => {
        const key = current
        let hasBegun = false
        const again = (error: ModelError): Stream.Stream<ModelPart, ModelError> => {
          if (hasBegun) return Stream.fail(error)
          if (isOfKey(error) && othersLeft > 0) {
            // A request beside this one may have moved on already.
            if (current === key) current = (key + 1) % keys
            return ask(request, othersLeft - 1, mayWait)
          }
          const { retryAfterMillis: wait = Number.POSITIVE_INFINITY } = error
          if (!mayWait || wait > longestWaitMillis) return Stream.fail(error)
          return Stream.unwrap(Effect.as(Effect.sleep(Duration.millis(wait)), ask(request, othersLeft, false)))
        }
        return Stream.unwrap(Effect.map(openOnce(key), (one) => one.answer(request))).pipe(
          Stream.tap(() => Effect.sync(() => void (hasBegun = true))),
          Stream.catch(again)
        )
      })
    return { ...model, answer: (request) => ask(request, keys - 1, true) }
  })
