/**
 * What a request costs that needs no query: an authenticated GET of the whole engine, beside the same JSON from uWebSockets alone and from
 * Fastify. CPU time of each server is counted, so that a slow client does not matter; a server is one thread, so that the figure is what it
 * answers in a second with a core to itself. Measured alternately.
 */
import { Effect } from "effect"
import type { Benchmark, Options } from "./Benchmark.ts"
import type { Child } from "./Child.ts"
import { startDatabase } from "./Database.ts"
import { startEngine } from "./Engine.ts"
import { cpuSecondsOf } from "./Measures.ts"
import { startHelper } from "./Probe.ts"
import { flood, type Target } from "./Requests.ts"

const connections = 64
const path = "/api/v1/organizations/telephony-providers/metadata"
const rounds = 7
const WARM_UP = "1 second"

interface Server {
  readonly child: Child
  readonly target: Target
}

/** Answers per CPU second of each server. */
interface Round {
  readonly ours: number
  readonly bare: number
  readonly fastify: number
}

/** The round with the median ratio: changes in the machine's speed affect everything measured in one round alike. */
const middleOf = (taken: ReadonlyArray<Round>, control: "bare" | "fastify"): Round => {
  const byRatio = taken.toSorted((a, b) => a.ours / a[control] - b.ours / b[control])
  return byRatio[Math.floor(byRatio.length / 2)] ?? { ours: Number.NaN, bare: Number.NaN, fastify: Number.NaN }
}

const startControl = Effect.fnUntraced(function* (serve: "bare" | "fastify", value: unknown) {
  const child = yield* startHelper("bareServersMain.ts")
  const target = { path, key: "0123456789abcdef" }
  return { child, target: { ...target, port: yield* child.ask<number>({ serve, value, ...target }, "port") } }
})

/** Answers per CPU second of the server. */
const rateOf = ({ child, target }: Server, quick: boolean) =>
  Effect.gen(function* () {
    const answers = yield* flood(target, connections)
    yield* Effect.sleep(WARM_UP)
    const [from, began] = [answers(), yield* cpuSecondsOf(child)]
    yield* Effect.sleep(quick ? "500 millis" : "3 seconds")
    return (answers() - from) / ((yield* cpuSecondsOf(child)) - began)
  }).pipe(Effect.scoped)

const measure = ({ quick }: Options) =>
  Effect.gen(function* () {
    const engine = yield* startEngine(yield* startDatabase(), { file: "measuredMain.ts" })
    const value = yield* engine.get(path.replace("/api/v1", ""))
    const ours: Server = { child: engine.child, target: { path, ...engine.address } }
    const bare = yield* startControl("bare", value)
    const fastify = yield* startControl("fastify", value)
    const taken: Array<Round> = []
    for (let round = 0; round < (quick ? 1 : rounds); round++) {
      taken.push({ bare: yield* rateOf(bare, quick), ours: yield* rateOf(ours, quick), fastify: yield* rateOf(fastify, quick) })
    }
    const besideBare = middleOf(taken, "bare")
    const besideFastify = middleOf(taken, "fastify")
    return [
      {
        name: "gateway, GET beside bare uWebSockets",
        value: besideBare.ours,
        unit: "/s",
        goal: { atLeast: 0.8 * besideBare.bare },
        control: besideBare.bare
      },
      { name: "gateway, GET beside Fastify", value: besideFastify.ours, unit: "/s", control: besideFastify.fastify }
    ]
  }).pipe(Effect.scoped)

export const gateway: Benchmark = { name: "gateway", run: measure }
