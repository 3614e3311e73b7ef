/**
 * The priorities of the engine's threads. The main thread carries the calls and sleeps most of the time; when it wakes, nobody who computes may
 * keep it waiting. Only on Linux does a thread have a priority of its own; elsewhere it would be the whole engine's.
 * https://man7.org/linux/man-pages/man2/setpriority.2.html
 */
import { setPriority } from "node:os"
import { setFlagsFromString } from "node:v8"

/** As the kernel counts: a thread of this niceness gets ten times the share of an ordinary one. */
const FOREMOST = -10
const ORDINARY = 0

/** False where it is not permitted: a higher priority than before needs CAP_SYS_NICE, or a limit (`LimitNICE=-10`) that allows it. */
const setNiceness = (id: number, niceness: number): boolean => {
  if (process.platform !== "linux") return false
  try {
    setPriority(id, niceness)
    return true
  } catch {
    return false
  }
}

/**
 * For the main thread; false where it stays as it was. Threads and processes that it starts from then on inherit it, and have to step back.
 *
 * V8 shares a scavenge among helper threads, which do not go first: on busy processors the main thread would stand still until it is their turn.
 * It does that part alone from then on.
 */
export const goFirst = (): boolean => {
  const isFirst = setNiceness(0, FOREMOST)
  if (isFirst) setFlagsFromString("--no-parallel-scavenge")
  return isFirst
}

/** For any other thread; up to 19 behind the ordinary. */
export const stepBack = (niceness = ORDINARY): void => void setNiceness(0, niceness)

/** For a process that was just started. */
export const makeOrdinary = (processId: number): void => void setNiceness(processId, ORDINARY)
