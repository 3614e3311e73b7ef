/** For tests that judge an engine by events that their own process records. */
import { setImmediate } from "node:timers/promises"

/** A new connection is accepted in one turn of the event loop, and its request read in another. */
const turns = 8

/**
 * Settles when this process has read everything that had reached it before. On a busy machine, requests wait in its sockets: without this, a
 * dial that left before a pause was answered might be recorded after the answer.
 */
export const backlogRead = async (): Promise<void> => {
  for (let turn = 0; turn < turns; turn++) await setImmediate()
}
