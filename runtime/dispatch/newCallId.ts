/** New call ids: UUIDs of version 7, so that attempts written one after another are neighbors in their index. */
import { randomUUID } from "node:crypto"
import type { CallId } from "#core/Id.ts"

/** Where, in a random UUID (version 4), the part starts that becomes the end of the version 7 UUID. */
const RANDOM_FROM = 15

/** `now`: epoch milliseconds. */
export const newCallId = (now: number): CallId => {
  const time = now.toString(16).padStart(12, "0")
  // This is the form that CallId requires.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(RANDOM_FROM)}` as CallId
}
