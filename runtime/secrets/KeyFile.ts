/** The key that the engine creates if the operator gives none: one file that no other user can read. */
import { Effect, Schema } from "effect"
import { randomBytes, randomUUID } from "node:crypto"
import { chmodSync, closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { keyBytes, keyBytesOf } from "./KeyRing.ts"

const fileName = "secrets.key"
const ownerAlone = 0o600

/** The file cannot be read or written, or does not contain a key. */
class KeyFileFailed extends Schema.TaggedError<KeyFileFailed>()("KeyFileFailed", { path: Schema.String, reason: Schema.String }) {
  override get message(): string {
    return `The key for the secrets, ${this.path}, cannot be used: ${this.reason}. Fix that, or set SECRETS_KEY`
  }
}

export const keyFileIn = (dataDir: string): string => join(dataDir, fileName)

const hasCode = (cause: unknown, code: string): boolean => cause instanceof Error && "code" in cause && cause.code === code
const attempt = <A>(path: string, act: () => A): Effect.Effect<A, KeyFileFailed> =>
  Effect.try({ try: act, catch: (cause) => new KeyFileFailed({ path, reason: cause instanceof Error ? cause.message : String(cause) }) })

/** The result of `act`; undefined if it fails with `code`. */
const unless = <A>(code: string, act: () => A): A | undefined => {
  try {
    return act()
  } catch (cause) {
    if (hasCode(cause, code)) return undefined
    throw cause
  }
}

/** Returns undefined if there is no file. Revokes other users' permission to read it. */
export const readKeyFile = Effect.fnUntraced(function* (path: string) {
  const text = yield* attempt(path, () => unless("ENOENT", () => readFileSync(path, "utf8")))
  if (text === undefined) return undefined
  const key = keyBytesOf(text.trim())
  if (key === undefined) return yield* new KeyFileFailed({ path, reason: "it does not hold 32 bytes in base64 or hexadecimal" })
  yield* attempt(path, () => {
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, ownerAlone)
  })
  return key
})

const flush = (path: string) => {
  const file = openSync(path, "r")
  fsyncSync(file)
  closeSync(file)
}

/**
 * Creates the file, complete and flushed to disk. If two engines create it at once, the second gets the first one's key: a link, unlike a
 * rename, never replaces an existing file.
 */
export const makeKeyFile = Effect.fnUntraced(function* (path: string) {
  const folder = dirname(path)
  const draft = join(folder, `.${fileName}.${randomUUID()}`)
  yield* attempt(path, () => {
    mkdirSync(folder, { recursive: true })
    writeFileSync(draft, `${randomBytes(keyBytes).toString("base64")}\n`, { flag: "wx", mode: ownerAlone })
    flush(draft)
    unless("EEXIST", () => linkSync(draft, path))
    flush(folder)
  }).pipe(Effect.ensuring(Effect.sync(() => rmSync(draft, { force: true }))))
  return (yield* readKeyFile(path)) ?? (yield* new KeyFileFailed({ path, reason: "it was deleted right after it was written" }))
})
