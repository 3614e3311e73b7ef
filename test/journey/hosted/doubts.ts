/**
 * Requests whose outcome cannot be known: the call was never placed, and the engine could not be told. No hosted carrier can prove that: its
 * list of calls may lag behind, or shows only live calls. Their outcome is therefore `unknown`, and their contacts are not called again.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { CarrierAsk } from "#test/emulators/shared/CarrierServer.ts"
import type { World } from "#test/support/engine.ts"
import type { Carrier } from "#test/support/hostedCarriers.ts"

export const reasons = {
  cutOff: "the connection was cut before the carrier did anything",
  refused: "the carrier refused it, and the reply was lost",
  neverLeft: "the engine was killed between its journal's line and the first byte",
  unsent: "the engine was killed while the call waited for its turn, and another one cannot read its journal"
} as const
type Reason = (typeof reasons)[keyof typeof reasons]

/** Keys are our ids of the calls. */
export type Unplaced = ReadonlyMap<string, Reason>

/** Our id of the requested call, which is part of the addresses that the carrier is given. */
export const callIdOf = ({ body }: Pick<CarrierAsk, "body">): string =>
  /carrier-callbacks(?:\/|%2F)\d+(?:\/|%2F)([0-9a-f-]{36})/.exec(body)?.[1] ?? "none"

/** The outcomes of the requests for calls, with our ids of the calls. */
const outcomesOf = ({ places, server }: Carrier) =>
  [...server.outcomes].filter(([ask]) => places(ask)).map(([ask, outcome]) => ({ callId: callIdOf(ask), ...outcome }))

const isPlaced = (status: number | undefined): boolean => status !== undefined && status >= 200 && status < 300

/** The calls about whose requests the engine was told: that they are refused, or the carrier's id of the call. */
export const toldOf = (carrier: Carrier): Readonly<Record<"placed" | "refused", ReadonlyArray<string>>> => {
  const told = outcomesOf(carrier).filter(({ isReplied }) => isReplied)
  const idsOf = (wasPlaced: boolean) => told.filter(({ status }) => isPlaced(status) === wasPlaced).map(({ callId }) => callId)
  return { placed: idsOf(true), refused: idsOf(false) }
}

/**
 * Of the calls that engines had when they were killed, `left` are those that they recorded in their journals right before the first byte of their
 * requests, and `abandoned` those that were written off.
 */
export const unplacedOf = (carrier: Carrier, left: Iterable<string>, abandoned: Iterable<string>): Unplaced => {
  const outcomes = outcomesOf(carrier)
  const requested = new Set(outcomes.map(({ callId }) => callId))
  const unheard = outcomes.filter(({ isReplied, status }) => !isReplied && !isPlaced(status))
  return new Map<string, Reason>([
    ...[...abandoned].filter((callId) => !requested.has(callId)).map((callId) => [callId, reasons.unsent] as const),
    ...unheard.map(({ callId, status }) => [callId, status === undefined ? reasons.cutOff : reasons.refused] as const),
    ...[...left].filter((callId) => !requested.has(callId)).map((callId) => [callId, reasons.neverLeft] as const)
  ])
}

/**
 * Calls that were placed and ended without any report to the engine: it did not get the reply to its request, nor any of the callbacks, which
 * some carriers send only once.
 */
export const untoldOf = (carrier: Carrier): ReadonlySet<string> => {
  const told = carrier.callbacks.deliveries.filter(({ status }) => isPlaced(status)).map(({ url }) => url)
  const unheard = outcomesOf(carrier).filter(({ isReplied, status }) => !isReplied && isPlaced(status))
  return new Set(unheard.map(({ callId }) => callId).filter((callId) => told.every((url) => !url.includes(callId))))
}

/** What the journals say about each call. Their times are in milliseconds since the machine was booted. */
export const journaled = (dataDirs: ReadonlyArray<string>): ReadonlyMap<string, string> => {
  const entries = dataDirs.flatMap((dataDir) => readdirSync(join(dataDir, "journal"), { recursive: true, withFileTypes: true }))
  const files = entries.filter((entry) => entry.isFile())
  const lines = files.flatMap((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8").split("\n"))
  const said = Map.groupBy(lines, (line) => line.split(" ")[1] ?? "")
  return new Map([...said].map(([callId, all]) => [callId, all.map((line) => line.split(" ", 1)[0]).join(", ")]))
}

interface DoubtRow {
  readonly id: string
  readonly phone_number: string
  readonly number: number
  readonly ended_at: Date
}

/**
 * For the test's output: everything that is known about each attempt with the outcome `unknown`. `journals`: their contents at the times of the
 * kills. `killedAt`: the first one.
 */
export const storiesOf = async (
  { log, places, server }: Carrier,
  world: World,
  campaign: number,
  {
    journals,
    killedAt,
    unplaced
  }: { readonly journals: ReadonlyMap<string, string>; readonly killedAt: number; readonly unplaced: Unplaced }
): Promise<ReadonlyArray<string>> => {
  const seconds = (at: number) => `${((at - killedAt) / 1000).toFixed(1)} s`
  const asked = (ask: CarrierAsk) => {
    const { isReplied, status } = server.outcomes.get(ask) ?? {}
    return `${status ?? "nothing"} at ${seconds(ask.at)}, ${isReplied === true ? "and said so" : "unheard"}`
  }
  const doubts = await world.sql<Array<DoubtRow>>`
    SELECT id, phone_number, number, ended_at FROM attempts WHERE campaign_id = ${campaign} AND outcome = 'unknown' ORDER BY created_at`
  return doubts.map(({ ended_at, id, number, phone_number }) => {
    const own = server.requests.filter((ask) => places(ask) && callIdOf(ask) === id)
    const endedAt = Number(ended_at)
    const [first] = own
    const looks = server.requests.filter(({ at, method }) => method === "GET" && at > (first?.at ?? killedAt) && at < endedAt)
    const rings = log.of(phone_number).map(({ at, kind }) => `${kind} at ${seconds(at)}`)
    return [
      `in doubt, from the first kill on: ...${phone_number.slice(-4)}, attempt ${number}, written off at ${seconds(endedAt)}: ${unplaced.get(id) ?? "?"}`,
      `journals at the kills: ${journals.get(id) ?? "nothing"}; requests: ${own.map(asked).join("; ") || "none"}`,
      `its phone: ${rings.join(", ") || "nothing"}; looks of all calls meanwhile: ${looks.length}`
    ].join("\n  ")
  })
}
