/**
 * The Postgres that all test files of a run share, as a separate process: `postgresKeeper.ts FOLDER`. It sends its URL to every client of
 * FOLDER/keeper.sock. When no client is connected any more, it removes everything and exits, so that a killed test leaves nothing behind. It
 * also exits, with code 0, if another keeper has the folder.
 */
import { Effect, Redacted } from "effect"
import { rmSync, writeSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { EmbeddedPostgres } from "#runtime/postgres/EmbeddedPostgres.ts"
import { ownFolder } from "#runtime/process/FolderOwner.ts"

// Between two files of a run, there may be a moment without any client.
const lingerMillis = 2000

/** Completes when no client has been connected for a while. */
const serve = (socket: string, url: string) =>
  Effect.callback<void>((resume) => {
    let connected = 0
    const endLater = () => setTimeout(() => server.close(() => resume(Effect.void)), lingerMillis)
    const server = createServer((client) => {
      connected++
      clearTimeout(end)
      client.on("error", () => client.destroy())
      client.on("close", () => {
        connected--
        if (connected === 0) end = endLater()
      })
      client.resume().write(`${url}\n`)
    })
    let end = endLater()
    rmSync(socket, { force: true })
    server.listen(socket)
  })

const keep = Effect.fnUntraced(function* (folder: string) {
  const { url } = yield* EmbeddedPostgres
  yield* serve(join(folder, "keeper.sock"), Redacted.value(url))
})

const main = Effect.fnUntraced(function* (folder: string) {
  yield* ownFolder(folder)
  const postgres = join(folder, "postgres")
  yield* keep(folder).pipe(Effect.provide(EmbeddedPostgres.layer({ folder: postgres, fast: true })))
  rmSync(postgres, { recursive: true, force: true })
}, Effect.scoped)

const [folder = ""] = process.argv.slice(2)
Effect.runFork(
  main(folder).pipe(
    Effect.catchTag("FolderInUse", () => Effect.void),
    Effect.tapCause((cause) => Effect.sync(() => writeSync(2, `${cause}\n`)))
  )
).addObserver((exit) => process.exit(exit._tag === "Success" ? 0 : 1))
