/** What a fault is. */
import { nowMillis } from "#test/support/until.ts"
import type { Stage } from "./Stage.ts"

export interface Fault {
  readonly name: string
  /** What the fault affects. */
  readonly of: "the engine" | "its clock" | "a request" | "the way to Asterisk" | "the database" | "Redis" | "a campaign"
  readonly run: (stage: Stage) => Promise<void>
}

/** Faults by their names. */
export const on = (of: Fault["of"], faults: Readonly<Record<string, Fault["run"]>>): ReadonlyArray<Fault> =>
  Object.entries(faults).map(([name, run]) => ({ name, of, run }))

/** The engine goes down, and is back, or another one has taken its place, when this resolves. */
export const down = async (stage: Stage, signal: "SIGKILL" | "SIGTERM", between: () => Promise<void> = async () => {}) => {
  if (signal === "SIGKILL") stage.kills.push(nowMillis())
  else stage.stops++
  await stage.deafened(signal === "SIGKILL" ? "the engine was killed" : "the engine was stopped", async () => {
    const { pid } = stage.world.engine
    await stage.world.end(signal)
    stage.say("  it is gone")
    await between()
    if (stage.nodes === undefined) await stage.world.launch()
    else await stage.nodes.untilReplaced(pid)
    stage.say("  it is back")
  })
}
