/** What the processes of a Postgres server have spent of their cores. */
import { Effect } from "effect"
import type { Database } from "./Database.ts"
import { parentOf, treeSecondsOf } from "./TreeCpu.ts"

/** Since its start, in seconds. Undefined where there is no Linux to ask. */
export const postgresSecondsOf = ({ sql }: Database): Effect.Effect<number | undefined> =>
  Effect.promise(async () => {
    const [row] = await sql<Array<{ pid: number }>>`SELECT pg_backend_pid() AS pid`
    return treeSecondsOf(parentOf(row?.pid ?? 0) ?? 0)
  })
