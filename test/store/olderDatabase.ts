/** Databases as an earlier release left them. */
import { Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { cpSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Test } from "tap"
import { temporaryFolder } from "#test/support/dataFolder.ts"
import { clientLayer, emptyDatabase, migrate } from "#test/support/postgres.ts"
import { runLive } from "#test/support/run.ts"

const own = fileURLToPath(new URL("../../core/migrations/", import.meta.url))

/** The engine's own migrations, as they were when `last` was the newest. */
const until = (t: Test, last: string): string => {
  const folder = temporaryFolder(t)
  for (const file of readdirSync(own)) if (file.slice(0, 4) <= last) cpSync(join(own, file), join(folder, file))
  return folder
}

/** Fills a database whose newest migration is `last`, migrates it, and looks at it. */
export const migratedFrom = <Filled, Seen>(
  t: Test,
  last: string,
  fill: Effect.Effect<Filled, unknown, SqlClient.SqlClient>,
  look: (filled: Filled) => Effect.Effect<Seen, unknown, SqlClient.SqlClient>
) =>
  runLive(
    Effect.flatMap(emptyDatabase, (url) =>
      Effect.gen(function* () {
        yield* migrate(until(t, last))
        const filled = yield* fill
        yield* migrate()
        return yield* look(filled)
      }).pipe(Effect.provide(Layer.fresh(clientLayer(url))), Effect.orDie)
    )
  )
