/**
 * The priorities of the engine's threads. The main thread carries the calls and sleeps most of the time; when it wakes, no computing thread may
 * keep it waiting. Only on Linux does a thread have its own priority; elsewhere it would apply to the whole engine.
 * https://man7.org/linux/man-pages/man2/setpriority.2.html
 */
import { setPriority } from "node:os"
import { setFlagsFromString } from "node:v8"

/** In Linux, a thread with this niceness gets ten times the share of an ordinary one. */
const FOREMOST = -10
const ORDINARY = 0

/** False if not permitted: raising a priority needs CAP_SYS_NICE, or a limit (`LimitNICE=-10`) that allows it. */
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
 * Raises the priority of the main thread; false if it is unchanged. Threads and processes started later inherit the priority, and must step
 * back.
 *
 * V8 shares a scavenge with helper threads, whose priority is not raised: on a busy machine the main thread would wait for them, so from then on
 * it scavenges alone.
 */
export const goFirst = (): boolean => {
  const isFirst = setNiceness(0, FOREMOST)
  if (isFirst) setFlagsFromString("--no-parallel-scavenge")
  return isFirst
}

/** Lowers the priority of the calling worker thread: 0 is ordinary, 19 the lowest, and one with -5 still goes before ordinary ones. */
export const stepBack = (niceness = ORDINARY): void => void setNiceness(0, niceness)

/** Resets the inherited priority of a process that was just started. */
export const makeOrdinary = (processId: number): void => void setNiceness(processId, ORDINARY)
