/** Something that the API tells, and that is read again when an event is about it. */
import { type Signal, useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { ask, Refused } from "./api.ts"
import type { Pushed } from "./figures.ts"
import { onEvent } from "./follow.ts"
import { Paced } from "./Paced.ts"
import { pageSeen } from "./pageSeen.ts"
import type { Happened } from "./types.ts"

export interface Reading<A> {
  readonly value: Signal<A | undefined>
  /** In words for people. */
  readonly error: Signal<string | undefined>
  /** Reads it again, at once. */
  readonly renew: () => void
}

const NEVER = () => false
interface Pace<A> {
  /** Between two readings, in milliseconds, unless somebody has done something here. */
  readonly pause?: number
  /** Where newer ones come from by themselves. */
  readonly pushed?: Pushed<A> | undefined
}

/**
 * `isAbout`: whether the event may have changed it. It is read again at once, or once the pause since the reading before is over, or once the page is
 * looked at. Undefined as path: there is nothing to read.
 */
export const useReading = <A>(
  path: string | undefined,
  isAbout: (event: Happened) => boolean = NEVER,
  { pause, pushed }: Pace<A> = {}
): Reading<A> => {
  const value = useSignal<A | undefined>(undefined)
  const error = useSignal<string | undefined>(undefined)
  const renew = useSignal(() => {})
  useEffect(() => {
    value.value = undefined
    error.value = undefined
    if (path === undefined) return
    const paced = new Paced(
      async (isOver) => {
        try {
          const read = await ask<A>("GET", path)
          if (isOver()) return
          value.value = read
          error.value = undefined
        } catch (cause) {
          if (!isOver()) error.value = cause instanceof Refused ? cause.message : String(cause)
        }
      },
      pageSeen,
      pause
    )
    renew.value = () => paced.wantNow()
    paced.want()
    const stop = onEvent((event) => {
      if (event === undefined || isAbout(event)) paced.want()
    })
    const stopPushed = pushed?.on((newer) => {
      value.value = newer
      error.value = undefined
    })
    return () => {
      stop()
      stopPushed?.()
      paced.end()
    }
  }, [path])
  return { value, error, renew: () => renew.peek()() }
}
