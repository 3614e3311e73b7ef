/** A long list page by page, the newest first. */
import { type Signal, useSignal } from "@preact/signals"

/** Where the pages begin that were turned to, the present one last. Empty: the first page. */
type Turned = Signal<ReadonlyArray<string>>
export const useTurned = (): Turned => useSignal<ReadonlyArray<string>>([])

interface TurnsProps {
  readonly of: Turned
  /** Where the next page begins; undefined on the last one. */
  readonly next: string | undefined
}

export const Turns = ({ next, of }: TurnsProps) =>
  next === undefined && of.value.length === 0 ? null : (
    <p class="choices">
      <button
        type="button"
        disabled={of.value.length === 0}
        onClick={() => {
          of.value = of.value.slice(0, -1)
        }}
      >
        Previous page
      </button>
      <button
        type="button"
        disabled={next === undefined}
        onClick={() => {
          if (next !== undefined) of.value = [...of.value, next]
        }}
      >
        Next page
      </button>
    </p>
  )
