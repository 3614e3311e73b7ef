/** How much CPU time the processes of a Postgres server have used. */
import { Effect } from "effect"
import type { Database } from "./Database.ts"
import { parentOf, treeSecondsOf } from "./TreeCpu.ts"

/** CPU seconds since its start. Undefined except on Linux. */
export const postgresSecondsOf = ({ sql }: Database): Effect.Effect<number | undefined> =>
  Effect.promise(async () => {
    const [row] = await sql<Array<{ pid: number }>>`SELECT pg_backend_pid() AS pid`
    return treeSecondsOf(parentOf(row?.pid ?? 0) ?? 0)
  })
