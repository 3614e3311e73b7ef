/** A manual clock for a frame pacer. */
import type { PacerTime } from "#runtime/voice/FramePacer.ts"

/** The clock stands still until `turn`, which moves it by `step` milliseconds at a time: everything is up to that late. */
export const handTurned = () => {
  let now = 1000
  let timer: { readonly at: number; readonly run: () => void } | undefined
  const time: PacerTime = {
    now: () => now,
    wake: (delay, run) => {
      const mine = { at: now + delay, run }
      timer = mine
      return () => {
        if (timer === mine) timer = undefined
      }
    }
  }
  const turn = (millis: number, step = 1) => {
    for (const end = now + millis; now < end; ) {
      now += step
      const due = timer
      if (due === undefined || due.at > now) continue
      timer = undefined
      due.run()
    }
  }
  return { time, turn, isAsleep: () => timer === undefined }
}
