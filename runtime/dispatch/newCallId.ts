/** New call ids: UUIDs of version 7, so that attempts written one after another lie together in their index. */
import { Clock, Effect } from "effect"
import { randomUUID } from "node:crypto"
import type { CallId } from "#core/Id.ts"

/** Where, in a random UUID of version 4, what a version 7 has of it begins. */
const RANDOM_FROM = 15

export const newCallId: Effect.Effect<CallId> = Effect.map(Clock.currentTimeMillis, (now) => {
  const time = now.toString(16).padStart(12, "0")
  // The shape that CallId asks for.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(RANDOM_FROM)}` as CallId
})
