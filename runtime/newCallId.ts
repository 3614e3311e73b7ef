/** New call ids: UUIDs of version 7, so that attempts written one after another lie together in their index. */
import { Clock, Effect } from "effect"
import { randomBytes } from "node:crypto"
import type { CallId } from "#core/Id.ts"

export const newCallId: Effect.Effect<CallId> = Effect.map(Clock.currentTimeMillis, (now) => {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(now, 0, 6)
  bytes.writeUInt8(0x70 | (bytes.readUInt8(6) & 0x0f), 6)
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8)
  const hex = bytes.toString("hex")
  // The shape that CallId asks for.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}` as CallId
})
