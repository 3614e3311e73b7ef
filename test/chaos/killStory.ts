/** Campaigns share a fast trunk while the engine is killed repeatedly: no contact fails because of a call that never left. */
import type { Test } from "tap"
import type { CalleeEntry } from "#test/emulators/shared/CalleeLog.ts"
import { attemptsOf, judge, nowMillis, numbersOf, until, World } from "#test/support/engine.ts"
import { dialsOf, thenKillsLeaveFewDoubts } from "#test/support/neverLeft.ts"

interface KillOptions {
  readonly campaigns: number
  readonly contacts: number
  readonly kills: number
  /** Dials between two kills, by the callees' log. */
  readonly dialsBetween: number
  readonly seed: number
}

const cap = 100

/** Numbers that were called while they were still in a call of ours. */
const calledTwiceAtOnce = ({ emulator }: World): ReadonlyArray<string> => {
  const live = new Map<string, number>()
  return emulator.log.entries.flatMap(({ kind, number }) => {
    const calls = live.get(number) ?? 0
    if (kind === "originate") live.set(number, calls + 1)
    if (kind === "ended") live.set(number, calls - 1)
    return kind === "originate" && calls > 0 ? [number] : []
  })
}

interface Absence {
  readonly killedAt: number
  readonly backAt: number
}

/** An event sent at least this long ago has reached the engine, even on a busy machine. */
const heardMillis = 1000
/** How far a call had come when the engine died, if it was over when the engine was back. After `!`: why the engine should know of it. */
export const phaseOf = (seen: ReadonlyArray<CalleeEntry>, absences: ReadonlyArray<Absence>): string => {
  const at = (kind: CalleeEntry["kind"]) => seen.find((entry) => entry.kind === kind)?.at ?? Number.POSITIVE_INFINITY
  const absence = absences.find(({ backAt, killedAt }) => at("ended") > killedAt - heardMillis && at("ended") < backAt)
  if (absence === undefined) return "!not under way when the engine was killed, or still up when it was back"
  if (at("answered") < absence.killedAt - heardMillis) return "!answered long before the engine was killed"
  if (at("answered") < absence.killedAt) return "answered right before the engine was killed, which had not heard of it"
  return at("ringing") < absence.killedAt ? "ringing when the engine was killed" : "asked for when the engine was killed, not ringing yet"
}

export const killStory = async (t: Test, { campaigns, contacts, dialsBetween, kills, seed }: KillOptions): Promise<void> => {
  const world = await World.open(t, {
    emulator: { media: false, ringMillis: 200, seed, talkMillis: 400 },
    environment: { CALL_RATE: "50", ORG_CONCURRENCY: String(cap), RECORDINGS: "off", TRUNK_RATE: "100" }
  })
  const ids: Array<number> = []
  for (let i = 0; i < campaigns; i++) ids.push((await world.campaign(numbersOf(contacts, ["01"], `+15${i + 10}`))).id)
  const absences: Array<Absence> = []
  const began = nowMillis()
  for (const id of ids) await world.api.start(id)
  for (let killed = 0; killed < kills; killed++) {
    const next = world.emulator.log.count("originate") + dialsBetween
    await until(`moment of death number ${killed + 1}`, () => (world.emulator.log.count("originate") >= next ? true : undefined))
    const killedAt = nowMillis()
    await world.end("SIGKILL")
    await world.launch()
    absences.push({ backAt: nowMillis(), killedAt })
  }
  for (const id of ids) await world.api.untilState(id, "completed")
  const seconds = (nowMillis() - began) / 1000

  const attempts = (await Promise.all(ids.map((id) => attemptsOf(world.sql, id)))).flat()
  const neverLeft = await thenKillsLeaveFewDoubts(t, world, ids, kills)
  const dials = dialsOf(world)
  const dialedAgain = dials.length - new Set(dials.map(({ channelId }) => channelId)).size
  const called = new Set(dials.map(({ number }) => number)).size
  const count = (holds: (attempt: (typeof attempts)[number]) => boolean) => attempts.filter(holds).length
  t.comment(
    [
      `${seconds.toFixed(1)} s`,
      `${kills} kills`,
      `${campaigns * contacts} contacts, ${called} called`,
      `${dials.length} dials, ${dialedAgain} of them of an attempt that was dialed before`,
      `${attempts.length} attempts, ${count(({ state }) => state === "void")} void`,
      `${count(({ outcome }) => outcome === "unknown")} unknown, ${neverLeft} held against a contact that was never called`
    ].join("; ")
  )
  const unknown = attempts.filter(({ outcome }) => outcome === "unknown").map(({ id }) => world.emulator.log.of(id))
  const phases = unknown.filter((seen) => seen.length > 0).map((seen) => phaseOf(seen, absences))
  for (const [phase, all] of Map.groupBy(phases, (each) => each)) t.comment(`unknown: ${all.length} ${phase}`)
  t.strictSame(
    phases.filter((phase) => phase.startsWith("!")),
    [],
    "then nothing is unknown but calls that were under way when the engine was killed, and over when it was back"
  )
  t.equal(dialedAgain, 0, "then no attempt was dialed twice")
  t.strictSame(calledTwiceAtOnce(world), [], "then no phone was called while it was in a call of ours")
  t.equal(called, campaigns * contacts - neverLeft, "then everybody else was called")
  for (const id of ids) await judge(t, world, id, cap)
}
