/** A secret that is handed out once; only its SHA-256 is stored. */
import { Effect } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import { Base64Url } from "effect/encoding"

const randomBytes = 32

/** Returns 43 characters that are safe in a URL. */
export const newSecret = Effect.fnUntraced(function* () {
  const random = yield* SecureRandom.SecureRandom
  return Base64Url.encode(yield* random.randomBytes(randomBytes))
})

/** The SHA-256 in hexadecimal. */
export const hashOf = Effect.fnUntraced(function* (secret: string) {
  const digest = yield* Digest.Digest
  return yield* digest.digestHex(Digest.sha256, new TextEncoder().encode(secret))
})
