/** Asks an engine at a steady rate, from a process of its own, and beside it a server that does nothing, which shows what the machine itself adds. */
import { Effect, type Scope } from "effect"
import { type Child, judging, startChild } from "./Child.ts"
import type { Engine } from "./Engine.ts"
import type { Probed } from "./neighbourProbeMain.ts"

/** Starts a process that tells when it can take messages. */
export const startHelper = (file: string): Effect.Effect<Child, never, Scope.Scope> =>
  Effect.tap(startChild({ file }), (child) => child.told("started"))

const startBare = Effect.gen(function* () {
  const child = yield* startHelper("bareServersMain.ts")
  const path = "/nothing"
  return { port: yield* child.ask<number>({ serve: "bare", path, value: { campaigns: [] }, key: "" }, "port"), path }
})

/** Returns what asks for this many seconds. */
export const startProbe = Effect.fnUntraced(function* (engine: Engine, path: string) {
  const bare = yield* startBare
  const probe = yield* judging(startHelper("neighbourProbeMain.ts"))
  probe.send({ targets: { engine: { ...engine.address, path }, bare } })
  return (seconds: number) => probe.ask<Probed>({ seconds }, "probed")
})
