/**
 * The files of core/migrations, in the order of their names. The first words of each say what it means for the engines of earlier releases:
 *
 *     -- Expands.                   Any engine that ran on the schema before still runs on it: it reads what newer engines write, and
 *                                   newer engines read what it writes.
 *     -- Contracts: needs 0093.     Removes what engines that know 0093 no longer use. Older ones cannot run on it.
 */
import { Effect, Schema } from "effect"
import { createHash } from "node:crypto"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/** The schema cannot be brought up to date. Nothing in `file` was applied. */
export class MigrationFailed extends Schema.TaggedError<MigrationFailed>()("MigrationFailed", {
  file: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `Migration ${this.file}: ${this.reason}`
  }
}

export interface Migration {
  readonly version: number
  readonly file: string
  readonly checksum: string
  readonly source: string
  /** The newest migration that an engine must know to run on the schema after this one. 0 if this one expands, null if it does not say. */
  readonly needs: number | null
}

/** A migration as recorded in the database. */
export type Applied = Omit<Migration, "source">

const ownMigrations = fileURLToPath(new URL("../../core/migrations/", import.meta.url))
const fileName = /^(\d{4})_[a-z0-9_]+\.sql$/
const expands = /^-- Expands\.\s/
const contracts = /^-- Contracts: needs (\d{4})\.\s/
/** Files up to this one have no such header. Engines that old refuse any schema newer than they are. */
const lastSilent = 92

const numbered = (version: number): string => String(version).padStart(4, "0")

const needsOf = (text: string): number | null => {
  const needed = contracts.exec(text)?.[1]
  if (needed !== undefined) return Number(needed)
  return expands.test(text) ? 0 : null
}

const parse = (file: string, source: string): Migration => {
  const text = source.replaceAll("\r\n", "\n")
  const checksum = createHash("sha256").update(text).digest("hex")
  return { version: Number(fileName.exec(file)?.[1]), file, checksum, source: text, needs: needsOf(text) }
}

/** What is wrong with a migration's header; undefined if nothing is. */
const faultOf = ({ needs, version }: Migration, all: ReadonlyArray<Migration>): string | undefined => {
  if (needs === null) return version > lastSilent ? `must begin with "-- Expands." or "-- Contracts: needs NNNN."` : undefined
  if (needs === 0 || all.some((other) => other.version === needs && needs < version)) return undefined
  return `says that it needs ${numbered(needs)}, which is no migration before it`
}

/** The migrations in `folder`, oldest first. */
export const readMigrations = Effect.fnUntraced(function* (folder: string = ownMigrations) {
  const names = yield* Effect.promise(() => readdir(folder))
  const files = names.filter((name) => name.endsWith(".sql")).sort()
  for (const [index, file] of files.entries()) {
    if (!fileName.test(file)) return yield* new MigrationFailed({ file, reason: "must be named NNNN_name.sql" })
    if (files[index - 1]?.slice(0, 4) === file.slice(0, 4)) return yield* new MigrationFailed({ file, reason: "its number is taken" })
  }
  const migrations = yield* Effect.forEach(files, (file) =>
    Effect.map(
      Effect.promise(() => readFile(join(folder, file), "utf8")),
      (source) => parse(file, source)
    )
  )
  for (const migration of migrations) {
    const reason = faultOf(migration, migrations)
    if (reason !== undefined) return yield* new MigrationFailed({ file: migration.file, reason })
  }
  return migrations
})

/** Why an engine whose newest migration is `newest` cannot run on a schema that contains this unknown migration. */
const strangeness = ({ needs, version }: Applied, newest: number): string | undefined => {
  if (version < newest) return "was applied, but is not one of this engine's: the database belongs to another line of releases"
  const restart = "Start the newer engine again, or restore a backup from before the upgrade"
  if (needs === null) return `was applied by a newer engine, and does not say which others can run on it. ${restart}`
  if (needs <= newest) return undefined
  return `was applied by a newer engine and contracts the schema: it needs an engine that knows ${numbered(needs)}, and this one knows nothing after ${numbered(newest)}. ${restart}`
}

/** Why an engine with these migrations cannot run on a schema with those that were applied; undefined if it can. */
export const obstacleOf = (own: ReadonlyArray<Migration>, applied: ReadonlyArray<Applied>): MigrationFailed | undefined => {
  const newest = own.at(-1)?.version ?? 0
  const known = new Map(own.map((migration) => [migration.version, migration]))
  for (const row of applied) {
    const mine = known.get(row.version)
    if (mine === undefined) {
      const reason = strangeness(row, newest)
      if (reason !== undefined) return new MigrationFailed({ file: row.file, reason })
    } else if (mine.checksum !== row.checksum) {
      const reason = "was changed after it had been applied; put it back as it was and write a new file"
      return new MigrationFailed({ file: row.file, reason })
    }
  }
  const done = new Set(applied.map(({ version }) => version))
  const isNewer = applied.some(({ version }) => version > newest)
  const missing = isNewer ? own.find(({ version }) => !done.has(version)) : undefined
  return missing && new MigrationFailed({ file: missing.file, reason: "is missing from a schema that a newer engine has migrated" })
}
