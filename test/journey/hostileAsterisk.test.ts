/** An Asterisk that sends text that no database can store: calls are recorded anyway, and the campaign's log says what happened. */
import t from "tap"
import { aloud, attemptsOf, eventsOf, numbersOf, untilTrue, World } from "#test/support/engine.ts"

/** NUL and half of a surrogate pair: JSON can express both, and Postgres can store neither. */
const poison = "\u0000\ud83d"

t.test("given conversations, when Asterisk's events contain text that cannot be stored", async (t) => {
  const world = await World.open(t, { emulator: { media: false, ringMillis: 200, talkMillis: 500 }, greeting: aloud })
  const { id } = await world.campaign(numbersOf(6, ["01"]), { max_concurrency: 2 })
  world.emulator.letTalk(true)
  await world.api.start(id)
  await world.seen("answered", 2)
  const [first, second] = (await attemptsOf(world.sql, id)).map((attempt) => attempt.id)
  const channel = (channelId: string | undefined) => ({ id: channelId, name: poison, state: poison })
  const say = (event: object) => world.emulator.say(JSON.stringify({ timestamp: "+275760-09-13T00:00:00.000Z", ...event }))
  for (const digit of [poison, `1${poison}`, "1"]) say({ type: "ChannelDtmfReceived", channel: channel(first), digit })
  say({ type: "Dial", peer: channel(first), dialstatus: poison })
  say({ type: "StasisStart", channel: channel(first), args: [poison] })
  say({ type: "ChannelHangupRequest", channel: channel(second), cause: -1e300, tech_cause: 0.5, soft: poison })
  say({ type: "ChannelDestroyed", channel: channel(second), cause: 1e300, cause_txt: poison, tech_cause: -1 })
  say({ type: poison, channel: channel(poison) })
  world.emulator.letTalk(false)
  await untilTrue("end of both calls", async () => (await attemptsOf(world.sql, id)).filter(({ state }) => state === "ended").length >= 2)
  say({ type: "ApplicationReplaced", application: poison })
  const paused = await world.api.untilState(id, "paused")
  t.match(eventsOf(paused), { telephony_unreachable: 1 }, "then the campaign's log says why it stopped")
  t.notOk(eventsOf(paused)["campaign_paused"], "then the engine itself has not failed")
  t.notMatch(world.output(), /actor died|could not be recorded/)
  await untilTrue("record of every call", async () =>
    (await attemptsOf(world.sql, id)).every(({ state }) => state === "ended" || state === "void")
  )
})
