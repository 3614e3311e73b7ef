/**
 * Passwords as scrypt hashes, `scrypt$<cost>$<block size>$<parallelization>$<salt>$<hash>`. Each is checked with the parameters it was made
 * with, so these can be raised at any time. Hashes are computed in a separate thread, with a lower priority than calls. A hash cannot be stopped
 * once started: an interrupted caller still waits for it to end, so that no other hash starts alongside it.
 */
import { Effect, Layer } from "effect"
import { randomBytes, timingSafeEqual } from "node:crypto"
import { Passwords } from "#core/organization/Passwords.ts"
import { PasswordThread } from "./PasswordThread.ts"

interface Cost {
  readonly cost: number
  readonly blockSize: number
  readonly parallelization: number
}
/** About a quarter of a second. https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html#scrypt */
const usual: Cost = { cost: 32_768, blockSize: 8, parallelization: 3 }
const saltBytes = 16
const hashBytes = 32

type Derive = (password: string, salt: Uint8Array, parameters: Cost) => Effect.Effect<Uint8Array>

const deriving =
  (thread: PasswordThread): Derive =>
  (password, salt, parameters) => {
    const options = { ...parameters, maxmem: 256 * parameters.cost * parameters.blockSize }
    return Effect.uninterruptible(thread.derive({ bytes: hashBytes, options, password: password.normalize("NFKC"), salt }))
  }

const hash = (derive: Derive, password: string, parameters: Cost): Effect.Effect<string> =>
  Effect.suspend(() => {
    const salt = randomBytes(saltBytes)
    const { blockSize, cost, parallelization } = parameters
    return Effect.map(derive(password, salt, parameters), (key) =>
      ["scrypt", cost, blockSize, parallelization, salt.toString("base64url"), Buffer.from(key).toString("base64url")].join("$")
    )
  })

const verify = (derive: Derive, password: string, stored: string): Effect.Effect<boolean> => {
  const [, cost, blockSize, parallelization, salt = "", expected = ""] = stored.split("$")
  const parameters = { cost: Number(cost), blockSize: Number(blockSize), parallelization: Number(parallelization) }
  return Effect.map(derive(password, Buffer.from(salt, "base64url"), parameters), (key) => {
    const wanted = Buffer.from(expected, "base64url")
    return key.length === wanted.length && timingSafeEqual(key, wanted)
  })
}

export const layer = (parameters: Cost = usual): Layer.Layer<Passwords> =>
  Layer.effect(
    Passwords,
    Effect.gen(function* () {
      const thread = yield* Effect.acquireRelease(
        Effect.sync(() => new PasswordThread()),
        ({ stop }) => stop
      )
      const derive = deriving(thread)
      return {
        hash: (password) => hash(derive, password, parameters),
        verify: (password, stored) =>
          stored === undefined ? Effect.as(hash(derive, password, parameters), false) : verify(derive, password, stored)
      }
    })
  )
