/** Receives the bytes of an upload, and counts and hashes them on the way. Whether they are kept is decided once all have arrived. */
import { Effect, Stream } from "effect"
import { createHash } from "node:crypto"
import { Pace } from "#core/load/Pace.ts"
import type { Stored } from "#core/file/UploadCompletion.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { BodyTooLarge } from "#gateway/http/Endpoint.ts"
import { FileStore } from "#gateway/ports/FileStore.ts"

const mebibyte = 1024 * 1024
/**
 * One for the whole process: all bytes are hashed and stored by its single thread. The burst is larger than the largest file, so that a single
 * upload is never held up.
 */
const pace = new Pace<string>({ burst: 16 * mebibyte, perSecond: 4 * mebibyte })

/** The organization that a key belongs to, as in `campaigns/7/...`. */
const ownerOf = (key: string): string => key.split("/", 2)[1] ?? ""

const measured = (owner: string, limit: number) => {
  const digest = createHash("sha256")
  let received = 0
  return {
    hash: () => digest.digest("hex"),
    through: <E>(bytes: Stream.Stream<Uint8Array, E>): Stream.Stream<Uint8Array, E | BodyTooLarge> =>
      Stream.mapEffect(bytes, (chunk) => {
        received += chunk.byteLength
        if (received > limit) return Effect.fail(new BodyTooLarge({ limit }))
        digest.update(chunk)
        return Effect.flatMap(SteadyTime.now, (now) => {
          const wait = pace.take(owner, chunk.byteLength, now)
          return wait === 0 ? Effect.succeed(chunk) : Effect.delay(Effect.succeed(chunk), wait)
        })
      })
  }
}

/** `complete` runs `keep`, or fails with the reason why not. */
export const uploaded = Effect.fnUntraced(function* <E, E2, R>(
  ticket: { readonly key: string; readonly maxBytes: number },
  bytes: Stream.Stream<Uint8Array, E>,
  complete: (key: string, sent: Stored, keep: Effect.Effect<void>) => Effect.Effect<void, E2, R>
) {
  const { hash, through } = measured(ownerOf(ticket.key), ticket.maxBytes)
  const staged = yield* FileStore.use((_) => _.stage(ticket.key, through(bytes)))
  yield* complete(ticket.key, { sizeBytes: staged.bytes, fileHash: hash() }, staged.keep)
  return { file_key: ticket.key, file_size: staged.bytes }
}, Effect.scoped)
