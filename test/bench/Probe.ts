/** Asks an engine at a steady rate, from a process of its own, and beside it a server that does nothing, which shows what the machine itself adds. */
import { Effect, type Scope } from "effect"
import { type Child, judging, startChild } from "./Child.ts"
import type { Engine } from "./Engine.ts"
import type { Probed } from "./neighbourProbeMain.ts"

/** Starts a process that tells when it can take messages. */
export const startHelper = (file: string): Effect.Effect<Child, never, Scope.Scope> =>
  Effect.tap(startChild({ file }), (child) =>
    child.next((message) => (message instanceof Object && "started" in message ? true : undefined))
  )

const startBare = Effect.gen(function* () {
  const child = yield* startHelper("bareServersMain.ts")
  const path = "/nothing"
  const listening = child.next((message) => (message instanceof Object && "port" in message ? Number(message.port) : undefined))
  const wanted = Effect.sync(() => child.send({ serve: "bare", path, value: { campaigns: [] }, key: "" }))
  const [port] = yield* Effect.all([listening, wanted], { concurrency: "unbounded" })
  return { port, path }
})

const probedOf = (message: unknown): Probed | undefined =>
  // Nobody else sends messages over this channel.
  message instanceof Object && "probed" in message ? (message.probed as Probed) : undefined

/** Returns what asks for this many seconds. */
export const startProbe = Effect.fnUntraced(function* (engine: Engine, path: string) {
  const bare = yield* startBare
  const probe = yield* judging(startHelper("neighbourProbeMain.ts"))
  probe.send({ targets: { engine: { ...engine.address, path }, bare } })
  return (seconds: number): Effect.Effect<Probed> => {
    const begin = Effect.sync(() => probe.send({ seconds }))
    return Effect.map(Effect.all([probe.next(probedOf), begin], { concurrency: "unbounded" }), ([probed]) => probed)
  }
})
