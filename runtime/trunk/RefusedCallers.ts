/**
 * The caller IDs that a trunk's provider has refused. They are excluded at once, while the mark on the number is still being written; after that
 * the configuration itself excludes them, until a person clears the mark.
 */
import { Effect, Schedule } from "effect"
import type { TelephonyConfigId } from "#core/Id.ts"
import type { CallerIds } from "#core/telephony/CallerId.ts"
import type { TrunkSettings } from "#core/telephony/TrunkSettings.ts"

export class RefusedCallers {
  /** Numbers whose mark is not written yet. */
  readonly #unwritten = new Set<string>()
  /** The ids without the refused ones, and the ids from which they were derived. */
  #shown: { readonly from: CallerIds; readonly ids: CallerIds } | undefined

  /** The ids that may be shown. */
  among(callerIds: CallerIds): CallerIds {
    if (this.#unwritten.size === 0) return callerIds
    if (this.#shown?.from !== callerIds) this.#shown = { from: callerIds, ids: this.#without(callerIds) }
    return this.#shown.ids
  }

  /** Writes the mark. `written` runs before the number is forgotten here: it has the setting read again. */
  refuse(settings: TrunkSettings["Service"], id: TelephonyConfigId, number: string, detail: string, written: Effect.Effect<void>) {
    if (this.#unwritten.has(number)) return Effect.void
    this.#unwritten.add(number)
    this.#shown = undefined
    return Effect.logWarning("the provider refuses a caller ID: it is not shown any more", { detail }).pipe(
      Effect.andThen(settings.refuseCaller(id, number, detail)),
      Effect.sandbox,
      Effect.retry(Schedule.spaced("5 seconds")),
      Effect.andThen(written),
      Effect.ensuring(
        Effect.sync(() => {
          this.#unwritten.delete(number)
          this.#shown = undefined
        })
      ),
      Effect.ignore
    )
  }

  #without({ all, preferred, ...rest }: CallerIds): CallerIds {
    const isShown = (number: string) => !this.#unwritten.has(number)
    return { ...rest, all: all.filter(isShown), preferred: preferred !== undefined && isShown(preferred) ? preferred : undefined }
  }
}
