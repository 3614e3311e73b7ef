/** A second engine, which carries calls for the one that decides. */
import { Effect, Fiber } from "effect"
import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { startChild } from "./Child.ts"
import type { Database } from "./Database.ts"
import { type Engine, engineEnvironment } from "./Engine.ts"

/** What all engines on a database have in common. */
export const sharedBy = ({ folder }: Pick<Database, "folder">) => ({
  FILES_DIR: join(folder, "files"),
  SECRETS_KEY: randomBytes(32).toString("hex")
})

interface CallNode {
  readonly name: string
  readonly environment: Readonly<Record<string, string>>
  /** See `startEngine`. */
  readonly file?: string | undefined
}

/** Returns its process once the engine that decides gives it calls. */
export const startCallNode = Effect.fnUntraced(function* (
  engine: Engine,
  database: Pick<Database, "folder" | "url">,
  { environment, file = "../../runtime/start.js", name }: CallNode
) {
  const found = yield* Effect.forkChild(engine.child.line(new RegExp(`"node":"${name}"`)))
  const folder = join(database.folder, name)
  const { pid } = yield* startChild({
    environment: engineEnvironment({ folder, url: database.url }, { ...environment, NODE_NAME: name }),
    file
  })
  yield* Fiber.join(found)
  return pid
})
