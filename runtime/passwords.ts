/**
 * Passwords as scrypt hashes, `scrypt$<cost>$<block size>$<parallelization>$<salt>$<hash>`: each is checked by the parameters that it was
 * made with, so these can be raised at any time. Computed in Node's thread pool. Once begun, a hash cannot be stopped: whoever has asked for one
 * and goes away still waits for its end, so that no other begins beside it.
 */
import { Effect, Layer } from "effect"
import { randomBytes, scrypt, type ScryptOptions, timingSafeEqual } from "node:crypto"
import { Passwords } from "#core/organization/Passwords.ts"

export interface Cost {
  readonly cost: number
  readonly blockSize: number
  readonly parallelization: number
}
/** About a quarter of a second. https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html#scrypt */
const usual: Cost = { cost: 32_768, blockSize: 8, parallelization: 3 }
const saltBytes = 16
const hashBytes = 32

const derive = (password: string, salt: Buffer, parameters: Cost): Effect.Effect<Buffer> =>
  Effect.callback<Buffer>((resume) => {
    const options: ScryptOptions = { ...parameters, maxmem: 256 * parameters.cost * parameters.blockSize }
    scrypt(password.normalize("NFKC"), salt, hashBytes, options, (error, key) =>
      resume(error === null ? Effect.succeed(key) : Effect.die(error))
    )
  }).pipe(Effect.uninterruptible)

const hash = (password: string, parameters: Cost): Effect.Effect<string> =>
  Effect.suspend(() => {
    const salt = randomBytes(saltBytes)
    const { blockSize, cost, parallelization } = parameters
    return Effect.map(derive(password, salt, parameters), (key) =>
      ["scrypt", cost, blockSize, parallelization, salt.toString("base64url"), key.toString("base64url")].join("$")
    )
  })

const verify = (password: string, stored: string): Effect.Effect<boolean> => {
  const [, cost, blockSize, parallelization, salt = "", expected = ""] = stored.split("$")
  const parameters = { cost: Number(cost), blockSize: Number(blockSize), parallelization: Number(parallelization) }
  return Effect.map(derive(password, Buffer.from(salt, "base64url"), parameters), (key) => {
    const wanted = Buffer.from(expected, "base64url")
    return key.length === wanted.length && timingSafeEqual(key, wanted)
  })
}

export const layer = (parameters: Cost = usual): Layer.Layer<Passwords> =>
  Layer.succeed(Passwords, {
    hash: (password) => hash(password, parameters),
    verify: (password, stored) => (stored === undefined ? Effect.as(hash(password, parameters), false) : verify(password, stored))
  })
