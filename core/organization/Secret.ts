/** A secret that we hand out once and of which we keep only the SHA-256. */
import { Effect } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import { Base64Url } from "effect/encoding"

const randomBytes = 32

/** 43 characters, safe in a URL. */
export const newSecret = Effect.fnUntraced(function* () {
  const random = yield* SecureRandom.SecureRandom
  return Base64Url.encode(yield* random.randomBytes(randomBytes))
})

/** Hexadecimal. */
export const hashOf = Effect.fnUntraced(function* (secret: string) {
  const digest = yield* Digest.Digest
  return yield* digest.digestHex(Digest.sha256, new TextEncoder().encode(secret))
})
