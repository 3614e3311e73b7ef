/**
 * Carriers whose reports are late or lost, although the audio of the call is there: the carrier begins it once the callee has answered, so callees
 * hear the agent at once, and it ends with the call, so the record says how long they talked. Judged by what callees hear and by their log.
 */
import t from "tap"
import { startPlivoEmulator } from "#test/emulators/plivo/PlivoEmulator.ts"
import { startVobizEmulator } from "#test/emulators/vobiz/VobizEmulator.ts"
import { contactStates, numbersOf, placedBy, untilTrue, type World } from "#test/support/engine.ts"
import { type Carrier, carriers, openThrough, ours } from "#test/support/hostedCarriers.ts"
import { callsIn, deafIn } from "./deaf.ts"

t.jobs = 3

const people = 2
const [ringMillis, talkMillis] = [100, 4000]
/** The records of a call appear that long after its end. */
const recordMillis = 8000
/** A busy machine notices the end of a stream late, but not as late as a record appears, or a look is due. */
const TALK_SECONDS = 3

/** The carriers whose records appear late. */
const late = { Plivo: startPlivoEmulator, Vobiz: startVobizEmulator }
const isLate = (name: string): name is keyof typeof late => name in late

const startLate = (name: keyof typeof late) =>
  late[name]({ callsPerSecond: Number.POSITIVE_INFINITY, numbers: [ours], recordMillis, ringMillis, talkMillis, talkOnceHeard: true })

/** How much longer or shorter the calls are on record than the callees talked, in seconds. */
const mistimed = async ({ api }: World, id: number, { log }: Carrier): Promise<ReadonlyArray<number>> => {
  const at = (kind: string, number: string) => log.of(number).find((entry) => entry.kind === kind)?.at ?? Number.NaN
  const talked = (number: string) => (at("ended", number) - at("answered", number)) / 1000
  const runs = await api.runs(id)
  return runs.map(
    ({ initial_context: known, usage_info: used }) => Number(used?.["call_duration_seconds"]) - talked(String(known?.["phone_number"]))
  )
}

for (const name of Object.keys(carriers)) {
  t.test(`given ${name}, when no report of a call arrives`, { buffered: true }, async (t) => {
    const carrier = isLate(name) ? await startLate(name) : await carriers[name]?.(t, { ringMillis, talkMillis, talkOnceHeard: true })
    if (carrier === undefined) throw new Error(name)
    t.teardown(() => carrier.stop())
    const world = await openThrough(t, carrier, { greeting: "Hello there, and good morning to all of you." })
    const { callbacks, log } = carrier
    const call = async (numbers: ReadonlyArray<string>) => {
      const { id } = await world.campaign(numbers, { max_concurrency: people, retry: { maxRetries: 0 } })
      await world.api.start(id)
      return id
    }
    const isRight = async (id: number, title: string) => {
      await world.api.untilState(id, "completed")
      t.strictSame(await contactStates(world.sql, id), { completed: people }, `${title}, then every call is recorded as answered`)
      t.strictSame([...new Set((await placedBy(world.sql, id)).map(({ outcome }) => outcome))], ["answered"])
      const off = await mistimed(world, id, carrier)
      t.ok(off.length === people && off.every((seconds) => Math.abs(seconds) < TALK_SECONDS), `and as long as the callee talked: ${off}`)
    }

    callbacks.hold({ sendsDocuments: true })
    const held = await call(numbersOf(people, ["01"]))
    await untilTrue("callees hang up", () => log.count("ended") === people)
    t.ok(callbacks.held() > 0)
    t.strictSame(deafIn(log, callsIn(log)), [], "then every callee has heard the agent")
    callbacks.release()
    await isRight(held, "once they arrive")

    callbacks.hold({ sendsDocuments: true })
    await isRight(await call(numbersOf(2 * people, ["01"]).slice(people)), "if they are lost")
    t.equal(log.count("originate"), 2 * people, "and nobody is called twice")
  })
}
