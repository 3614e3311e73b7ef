/** Something that the API tells, and that is read again when an event is about it. */
import { type Signal, useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { ask, Refused } from "./api.ts"
import { onEvent } from "./follow.ts"
import type { Happened } from "./types.ts"

export interface Reading<A> {
  readonly value: Signal<A | undefined>
  /** In words for people. */
  readonly error: Signal<string | undefined>
  /** Reads it again, at once. */
  readonly renew: () => void
}

const NEVER = () => false
/** Between two readings of the same, so that a campaign with many calls a second costs the engine one request a second and page. */
const PAUSE_MILLIS = 1000

/**
 * `isAbout`: whether the event may have changed it. It is read again at once, or once the pause since the reading before is over, or once the page is
 * looked at. Undefined as path: there is nothing to read.
 */
export const useReading = <A>(path: string | undefined, isAbout: (event: Happened) => boolean = NEVER): Reading<A> => {
  const value = useSignal<A | undefined>(undefined)
  const error = useSignal<string | undefined>(undefined)
  const renew = useSignal(() => {})
  useEffect(() => {
    value.value = undefined
    error.value = undefined
    if (path === undefined) return
    const turns = new Turns(async (isOver) => {
      try {
        const read = await ask<A>("GET", path)
        if (isOver()) return
        value.value = read
        error.value = undefined
      } catch (cause) {
        if (!isOver()) error.value = cause instanceof Refused ? cause.message : String(cause)
      }
    })
    renew.value = () => turns.wantNow()
    turns.want()
    const stop = onEvent((event) => {
      if (event === undefined || isAbout(event)) turns.want()
    })
    return () => {
      stop()
      turns.end()
    }
  }, [path])
  return { value, error, renew: () => renew.peek()() }
}

/** Readings one after another. What is wanted several times while one runs is read once more. */
class Turns {
  readonly #read: (isOver: () => boolean) => Promise<void>
  #isRunning = false
  #isWanted = false
  #isOver = false
  #endPause = () => {}

  constructor(read: (isOver: () => boolean) => Promise<void>) {
    this.#read = read
  }

  want(): void {
    this.#isWanted = true
    if (!this.#isRunning) void this.#run()
  }

  /** Without the pause: somebody waits for what they have just done. */
  wantNow(): void {
    this.want()
    this.#endPause()
  }

  end(): void {
    this.#isOver = true
    this.#endPause()
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#isWanted && !this.#isOver) {
      await seen()
      this.#isWanted = false
      if (!this.#isOver) await this.#read(() => this.#isOver)
      if (!this.#isOver) await this.#pause()
    }
    this.#isRunning = false
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const waiting = setTimeout(resolve, PAUSE_MILLIS)
      this.#endPause = () => {
        clearTimeout(waiting)
        resolve()
      }
    })
  }
}

/** Resolves while somebody can see the page. */
const seen = (): Promise<void> =>
  document.hidden
    ? new Promise((resolve) => document.addEventListener("visibilitychange", () => resolve(), { once: true }))
    : Promise.resolve()
