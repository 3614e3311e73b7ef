/**
 * A carrier that keeps calls in a queue of its own. A call that waits there must not ring once its campaign may no longer dial, and its
 * contact is called again only if the carrier proves that it never rang. Judged by the log of Twilio's callees.
 */
import t, { type Test } from "tap"
import type { CarrierAsk } from "#test/emulators/shared/CarrierServer.ts"
import { TwilioEmulator } from "#test/emulators/twilio/TwilioEmulator.ts"
import { attemptsOf, contactStates, numbersOf, until, untilTrue } from "#test/support/engine.ts"
import { openThrough, ours } from "#test/support/hostedCarriers.ts"
import { variantsOfRun } from "#test/support/partOfRun.ts"

const closedWindow = () => {
  const inTwoDays = (new Date().getUTCDay() + 6 + 2) % 7
  return { timezone: "UTC", slots: [{ day_of_week: inTwoDays, start_time: "09:00", end_time: "17:00" }] }
}

const emulator = await TwilioEmulator.start({ callsPerSecond: 1000, numbers: [ours], ringMillis: 100, talkMillis: 300 })
t.teardown(() => emulator.stop())
const world = await openThrough(t, emulator, { environment: { COMPATIBILITY: "dograh" } })
let scenes = 0

/** A campaign whose calls all wait in the queue. */
const queue = async (contacts: number) => {
  const { log } = emulator
  const prefix = `166${++scenes}`
  const numbers = numbersOf(contacts, ["01"], `+${prefix}`)
  const { id } = await world.campaign(numbers, { retry: { maxRetries: 0 } })
  emulator.holdQueue(true)
  await world.api.start(id)
  const requests = () => emulator.dials().filter((ask) => ask.body.includes(prefix)).length
  await untilTrue("requests", () => requests() === contacts)
  const records = () => numbers.flatMap((number) => emulator.callsTo(number))
  return {
    contacts: () => contactStates(world.sql, id),
    isCanceled: ({ path }: CarrierAsk) => records().some(({ sid, status }) => status === "canceled" && path.includes(sid)),
    dialed: () => log.entries.flatMap(({ kind, number }) => (kind === "originate" && numbers.includes(number) ? [number] : [])),
    id,
    numbers,
    requests,
    areAllVoid: async () => (await attemptsOf(world.sql, id)).every(({ state }) => state === "void"),
    states: () => records().map(({ status }) => status)
  }
}

/** What the campaign's log says about calls that were removed from the queue. */
const untilWithdrawn = ({ id }: { readonly id: number }) =>
  until("entry in the log", async () => {
    const entries = (await world.api.campaign(id)).logs.filter(({ event }) => event === "queued_calls_withdrawn")
    return entries.length === 0 ? undefined : entries.map(({ details }) => details)
  })

const isHangup = ({ method, path }: CarrierAsk): boolean => method === "POST" && /\/Calls\/CA\w+\.json$/.test(path)
const isLook = ({ method, path }: CarrierAsk): boolean => method === "GET" && /\/Calls\/CA\w+\.json$/.test(path)

/** Contacts whose phones have not rung are dialed when the campaign continues, and only once. */
const goesOn = async (t: Test, { dialed, id, numbers }: Awaited<ReturnType<typeof queue>>) => {
  await world.api.resume(id)
  await world.api.untilState(id, "completed")
  t.strictSame(dialed().toSorted(), numbers.toSorted(), "then everybody is dialed once")
  t.strictSame(await contactStates(world.sql, id), { completed: numbers.length })
}

t.test("given queued calls, when their campaign is paused", async (t) => {
  const scene = await queue(5)
  const { contacts, id, states } = scene
  await world.api.pause(id)
  await untilTrue("attempts that are void", scene.areAllVoid)
  t.strictSame(states(), ["canceled", "canceled", "canceled", "canceled", "canceled"], "then they are removed from the queue")
  t.strictSame(await contacts(), { pending: 5 }, "then the contacts are unchanged")
  t.equal((await world.api.runs(id)).length, 0, "then no run is left")
  t.strictSame(await untilWithdrawn(scene), [{ calls: 5 }], "then the log says how many there were")
  const { executed_count, failed_rows, processed_rows } = await world.api.campaign(id)
  t.strictSame({ executed_count, failed_rows, processed_rows }, { executed_count: 0, failed_rows: 0, processed_rows: 0 })
  emulator.holdQueue(false)
  await goesOn(t, scene)
})

t.test("given queued calls, when the calling window closes", async (t) => {
  const scene = await queue(2)
  const { contacts, dialed, id } = scene
  const { status } = await world.api.ask("PATCH", `/campaign/${id}`, { schedule_config: closedWindow() })
  t.equal(status, 200)
  await untilTrue("attempts that are void", scene.areAllVoid)
  t.strictSame(await contacts(), { pending: 2 })
  emulator.holdQueue(false)
  t.strictSame(dialed(), [], "then nobody's phone rings")
  t.strictSame(await untilWithdrawn(scene), [{ calls: 2 }])
})

t.test("given queued calls, when the replies to their hang-ups are lost", async (t) => {
  for (const acts of [true, false]) {
    const scene = await queue(2)
    const { contacts, id } = scene
    emulator.server.fail({ acts, reply: "reset" }, isHangup, 2)
    await world.api.pause(id)
    await untilTrue("attempts that are void", scene.areAllVoid)
    t.strictSame(await contacts(), { pending: 2 })
    emulator.holdQueue(false)
    await goesOn(t, scene)
  }
})

t.test("given a call that leaves the queue while it is being removed", async (t) => {
  const scene = await queue(1)
  const { dialed, id, numbers, requests } = scene
  // The reply says that the call is waiting, but arrives when its phone already rings.
  emulator.server.lateness = (ask) => (isLook(ask) ? 500 : 0)
  emulator.lives.letRing(true)
  const looks = () => emulator.server.requests.filter(isLook).length
  const before = looks()
  await world.api.pause(id)
  await untilTrue("look", () => looks() > before)
  emulator.holdQueue(false)
  await untilTrue("end", async () => (await attemptsOf(world.sql, id)).every(({ state }) => state === "ended"))
  t.strictSame(dialed(), numbers)
  emulator.lives.letRing(false)
  await world.api.resume(id)
  await world.api.untilState(id, "completed")
  t.equal(requests(), 1, "then nobody whose phone may have rung is called again")
  emulator.server.lateness = () => 0
})

for (const heard of variantsOfRun(["heard of", "not heard of"], 1)) {
  t.test(`given calls that left the queue unrung, when the engine is killed before it has looked, and that was ${heard}`, async (t) => {
    const scene = await queue(3)
    const { contacts, dialed, id, states } = scene
    const { callbacks, server } = emulator
    if (heard === "not heard of") callbacks.hold()
    let isMute = true
    server.fail({ acts: false, reply: "hang" }, (ask) => isMute && isLook(ask) && scene.isCanceled(ask), 1000)
    await world.api.pause(id)
    await untilTrue("cancellations", () => states().every((status) => status === "canceled"))
    await callbacks.settled()
    await world.end("SIGKILL")
    callbacks.lose()
    isMute = false
    await world.launch()
    await untilTrue("attempts that are void", scene.areAllVoid)
    t.strictSame(await contacts(), { pending: 3 })
    emulator.holdQueue(false)
    t.strictSame(dialed(), [], "then nobody's phone rings")
    await goesOn(t, scene)
  })
}

t.test("given queued calls, when the engine is killed while their campaign runs, then everybody is dialed once", async (t) => {
  const { dialed, id, numbers, requests } = await queue(3)
  await world.end("SIGKILL")
  await world.launch()
  await untilTrue("calls taken back", () => requests() === 2 * numbers.length)
  emulator.holdQueue(false)
  await world.api.untilState(id, "completed")
  t.strictSame(dialed().toSorted(), numbers.toSorted())
})
