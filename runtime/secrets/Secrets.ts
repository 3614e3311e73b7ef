/**
 * Finds the installation's key, and seals every secret in the database with it. To be built by the engine that has the database's lock, before
 * anything reads a secret: rows that an earlier version wrote in plain text, or that were sealed with a former key, are first sealed with the
 * current key. If the process dies in between, the next start does the rest.
 */
import { Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Sealer } from "#core/Sealer.ts"
import { sealRows } from "#core/secrets/sealRows.ts"
import * as usedKeys from "#core/secrets/UsedKeyStore.ts"
import { Config } from "#runtime/config/config.ts"
import { keyFileIn, makeKeyFile, readKeyFile } from "./KeyFile.ts"
import { type KeyRing, keyBytesOf, prefixOf, sealsOf, secretsKey } from "./KeyRing.ts"

type Sql = SqlClient.SqlClient

/** The database has secrets, and a key with which some are sealed is missing. */
class SecretsLocked extends Schema.TaggedError<SecretsLocked>()("SecretsLocked", {
  missing: Schema.Array(Schema.String),
  path: Schema.String,
  isOther: Schema.Boolean
}) {
  override get message(): string {
    const given = this.isOther ? "the key given is another one" : "no key was given"
    return (
      `The secrets in the database are sealed with the key ${this.missing.join(" and ")}, and ${given}. ` +
      `Set SECRETS_KEY to the key of that name, or put its file back at ${this.path}; ` +
      "to change to another key, set the new one as SECRETS_KEY and the former one as SECRETS_KEY_OLD"
    )
  }
}

/** The current key is SECRETS_KEY, or else the one in the file, which is created only if nothing has ever been sealed. */
const findKeys = Effect.fnUntraced(function* (used: ReadonlyArray<usedKeys.UsedKey>) {
  const { dataDir, secretsKey: given, secretsKeyOld } = yield* Config
  const path = keyFileIn(dataDir)
  const file = yield* readKeyFile(path)
  const own = given === undefined ? undefined : keyBytesOf(Redacted.value(given))
  const former = (secretsKeyOld ?? []).flatMap((key) => keyBytesOf(Redacted.value(key)) ?? [])
  const missing = (known: ReadonlyArray<Uint8Array>) => {
    const ids = known.map((key) => secretsKey(key).id)
    return used.map(({ id }) => id).filter((id) => !ids.includes(id))
  }
  const current = own ?? file
  if (current === undefined && used.length > 0) {
    return yield* new SecretsLocked({ missing: used.map(({ id }) => id), path, isOther: false })
  }
  const bytes = current ?? (yield* makeKeyFile(path))
  // An operator who switches from the file to SECRETS_KEY need not supply the former key.
  const all = file === undefined ? former : [...former, file]
  const absent = missing([bytes, ...all])
  if (absent.length > 0) return yield* new SecretsLocked({ missing: absent, path, isOther: true })
  return { current: secretsKey(bytes), former: all.map(secretsKey) } satisfies KeyRing
})

/** Seals everything with the current key. That key is recorded in the database before the first row is sealed with it. */
const settle = Effect.fnUntraced(function* (sql: Sql, ring: KeyRing, used: ReadonlyArray<usedKeys.UsedKey>) {
  const { id } = ring.current
  if (used.length === 1 && used[0]?.id === id && used[0].isSettled) return
  yield* usedKeys.begin(sql, id)
  const rows = yield* sealRows(sql, sealsOf(ring), prefixOf(ring.current))
  yield* usedKeys.settle(sql, id)
  yield* usedKeys.forgetOthers(sql, id)
  const formerKeys = used.map((key) => key.id).filter((one) => one !== id)
  const message =
    formerKeys.length === 0 ? "the secrets are sealed" : "the secrets are sealed with the new key; the former one is not needed any more"
  yield* Effect.logInfo(message).pipe(Effect.annotateLogs({ key: id, rows, ...(formerKeys.length === 0 ? {} : { formerKeys }) }))
})

export const layer = Layer.effect(
  Sealer,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const used = yield* Effect.orDie(usedKeys.all(sql))
    const ring = yield* findKeys(used)
    yield* Effect.orDie(settle(sql, ring, used))
    return sealsOf(ring)
  })
)

/** For a call node, which changes nothing: the engine with the lock has sealed everything. */
export const layerReading = Layer.effect(
  Sealer,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return sealsOf(yield* findKeys(yield* Effect.orDie(usedKeys.all(sql))))
  })
)
