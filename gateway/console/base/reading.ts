/** Something that the API tells, and that is read again when an event is about it. */
import { type Signal, useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { ask, Refused } from "./api.ts"
import { type Happened, onEvent } from "./follow.ts"

export interface Reading<A> {
  readonly value: Signal<A | undefined>
  /** In words for people. */
  readonly error: Signal<string | undefined>
  /** Reads it again. */
  readonly renew: () => void
}

const NEVER = () => false

/** `isAbout`: whether the event may have changed it. While it is being read, further events cause one more reading, not one each. */
export const useReading = <A>(path: string, isAbout: (event: Happened) => boolean = NEVER): Reading<A> => {
  const value = useSignal<A | undefined>(undefined)
  const error = useSignal<string | undefined>(undefined)
  const reading = useSignal({ isRunning: false, isWanted: false })
  const renew = () => void read(path, { value, error }, reading.peek())
  useEffect(() => {
    value.value = undefined
    renew()
    return onEvent((event) => {
      if (event === undefined || isAbout(event)) renew()
    })
  }, [path])
  return { value, error, renew }
}

const read = async <A>(
  path: string,
  { error, value }: Pick<Reading<A>, "error" | "value">,
  turn: { isRunning: boolean; isWanted: boolean }
): Promise<void> => {
  turn.isWanted = true
  if (turn.isRunning) return
  turn.isRunning = true
  while (turn.isWanted) {
    turn.isWanted = false
    try {
      value.value = await ask<A>("GET", path)
      error.value = undefined
    } catch (cause) {
      error.value = cause instanceof Refused ? cause.message : String(cause)
    }
  }
  turn.isRunning = false
}
