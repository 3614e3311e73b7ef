/** Two engines that call through a carrier, behind a balancer that sends each connection to a random one of them, and what kills them. */
import { join } from "node:path"
import type { Test } from "tap"
import { Nodes } from "#test/chaos/Nodes.ts"
import type { CarrierAsk } from "#test/emulators/shared/CarrierServer.ts"
import { preciseNow } from "#test/emulators/shared/CalleeLog.ts"
import { openBalancer } from "#test/support/balancer.ts"
import { Api, nowMillis, untilTrue, type World } from "#test/support/engine.ts"
import type { Environment } from "#test/support/EngineProcess.ts"
import { freePort } from "#test/support/freePort.ts"
import { type Carrier, openThrough } from "#test/support/hostedCarriers.ts"
import { leftAt } from "#test/support/leftAt.ts"
import { sharing } from "../cluster.ts"
import { callIdOf, journaled, toldOf } from "./doubts.ts"

const names = ["journey", "node2"] as const

export interface Engines {
  readonly dataDirs: ReadonlyArray<string>
  /** Where each engine listens, by its name. */
  readonly urls: ReadonlyMap<string, string>
  readonly nodes: Nodes
  /** What clients ask of the balancer. */
  readonly through: Api
  readonly world: World
}

interface Way {
  readonly environment: Environment
  /** Each engine gets the audio of its calls at a port of its own. */
  readonly isStraight: boolean
  readonly seed: number
}

/** Carriers and clients know only the balancer. */
export const openEngines = async (t: Test, carrier: Carrier, { environment, isStraight, seed }: Way): Promise<Engines> => {
  const balancer = await openBalancer(t, seed)
  const urls = new Map<string, string>()
  const front = async (name: string): Promise<Environment> => {
    const port = await freePort()
    balancer.ports.add(port)
    const url = `http://127.0.0.1:${port}`
    urls.set(name, url)
    return { PORT: String(port), ...(isStraight ? { MEDIA_URL: url } : {}) }
  }
  const [first, second] = names
  const shared = { ...environment, ...(await sharing(t)), PUBLIC_URL: balancer.url }
  const own = { first: await front(first), second: await front(second) }
  const world = await openThrough(t, carrier, { environment: { ...shared, ...own.first }, greeting: "Good morning." })
  const nodes = await Nodes.start(t, world, names.length, (line) => t.comment(line), own.second)
  await untilTrue("a call node that takes calls", () => world.output().includes(`"node":"${second}"`))
  const dataDirs = [world.dataDir, join(world.dataDir, second)]
  return { dataDirs, nodes, through: new Api(balancer.url, world.apiKey), urls, world }
}

/** The calls of an engine that are not over, as far as the database knows. */
const callsOf = async ({ sql }: World, name: string): Promise<ReadonlyArray<string>> => {
  const rows = await sql<Array<{ id: string }>>`SELECT id FROM attempts WHERE node = ${name} AND state NOT IN ('ended', 'void')`
  return rows.map(({ id }) => id)
}

/**
 * Those that it had begun and not ended at a moment, whatever has become of them since: the other engine may have settled them already. Some carriers say when
 * a call ended by the second.
 */
const callsAt = async ({ sql }: World, name: string, at: number, goneAt: number): Promise<ReadonlyArray<string>> => {
  const rows = await sql<Array<{ id: string }>>`
    SELECT id FROM attempts WHERE node = ${name} AND created_at <= to_timestamp(${goneAt}::float8 / 1000)
      AND (state NOT IN ('ended', 'void') OR ended_at >= date_trunc('second', to_timestamp(${at}::float8 / 1000)))`
  return rows.map(({ id }) => id)
}

export interface Kill {
  readonly at: number
  /** Its process had ended by then, and nobody could connect to it any more. */
  readonly goneAt: number
  readonly node: string
  /** The calls that the engine had, as far as the database knew. */
  readonly calls: ReadonlySet<string>
  readonly journals: ReadonlyMap<string, string>
  readonly left: Left
}

/** By engine: when its calls left, according to its journal. That of the engine that decides also has when it let calls of the other one leave. */
type Left = ReadonlyArray<ReadonlyMap<string, number>>

const leftNow = (dataDirs: ReadonlyArray<string>): Left => dataDirs.map((dataDir) => leftAt([dataDir]))

/** When each call left the engine that carried it, in milliseconds since the machine was booted. */
export const departuresOf = async ({ dataDirs, world }: Engines, kills: ReadonlyArray<Kill>): Promise<ReadonlyMap<string, number>> => {
  const all = [...kills.map(({ left }) => left), leftNow(dataDirs)]
  const carriers = await world.sql<Array<{ id: string; node: string }>>`SELECT id, node FROM attempts`
  const places: ReadonlyArray<string> = names
  return new Map(
    carriers.flatMap(({ id, node }) => {
      const times = all.flatMap((left) => left[places.indexOf(node)]?.get(id) ?? [])
      return times.length === 0 ? [] : [[id, Math.max(...times)] as const]
    })
  )
}

/**
 * Kills an engine while it waits for replies: one to a request that placed no call, if `isPlacedAlways` is not set, and at least one more. It has
 * recorded everything that it was told before, so it is certain what nobody can know. Its supervisor starts it again.
 */
export const kill = async (carrier: Carrier, { dataDirs, nodes, world }: Engines, node: string, isPlacedAlways: boolean): Promise<Kill> => {
  const { places, server } = carrier
  const { mutes: before } = server
  const mutedAt = nowMillis()
  const its = new Set<string>()
  const isIts = (ask: CarrierAsk) => places(ask) && its.has(callIdOf(ask))
  server.mutes = (ask) => before(ask) || isIts(ask)
  if (!isPlacedAlways) server.fail({ acts: false, reply: "hang" }, isIts)
  const unheard = () => [...server.outcomes].filter(([ask, { isReplied }]) => isIts(ask) && ask.at > mutedAt && !isReplied)
  await untilTrue("requests whose replies do not come", async () => {
    for (const callId of await callsOf(world, node)) its.add(callId)
    return unheard().length >= 2
  })
  await untilTrue("replies that are recorded", async () => {
    const { placed, refused } = toldOf(carrier)
    const open = await world.sql`
      SELECT id FROM attempts WHERE node = ${node} AND state NOT IN ('ended', 'void')
        AND (id = ANY(${refused}::uuid[]) OR (id = ANY(${placed}::uuid[]) AND provider_call_id IS NULL))`
    return open.length === 0
  })
  const engine = nodes.process(node)
  const at = nowMillis()
  engine.kill("SIGKILL")
  await engine.exited
  const goneAt = nowMillis()
  const calls = new Set(await callsAt(world, node, at, goneAt))
  const [journals, left] = [journaled(dataDirs), leftNow(dataDirs)]
  // Whoever asked is gone, even where the carrier replies only now, because the callee has just answered.
  const mutedUntil = preciseNow()
  server.mutes = (ask) => before(ask) || (isIts(ask) && ask.at < mutedUntil)
  return { at, calls, goneAt, journals, left, node }
}
