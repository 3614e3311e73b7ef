/** The emulated Asterisk as a client of ARI sees it. How it carries calls and audio is shown by the adapter, which the suite also tries on a real one. */
import t from "tap"
import { type AriEvent, listen, originate, start, until } from "./ari/bareClient.ts"

/** An event in the words of the table of outcomes. */
const worded = (event: AriEvent): string => {
  if (event.type === "Dial") return `Dial ${event.dialstatus}`.trim()
  if (event.type === "ChannelStateChange") return event.channel?.state ?? ""
  if (event.type === "ChannelDtmfReceived") return `pressed ${event.digit}`
  return [event.type.replace("Channel", ""), event.cause, event.tech_cause].filter((part) => part !== undefined).join(" ")
}

const ringing = ["Dial", "Ringing", "Dial RINGING"]
const answered = [...ringing, "Up", "Dial ANSWER", "StasisStart"]
const goodbye = ["HangupRequest 16", "StasisEnd", "Destroyed 16"]
const timeOut = "Destroyed 19 480"

t.test("given a callee, when it is dialed, then its events come in Asterisk's order", async (t) => {
  const emulator = await start(t)
  const client = await listen(emulator)
  const check = async (lastThree: string, expected: ReadonlyArray<string>, log: ReadonlyArray<string>) => {
    // Only the callee who never answers may time out, however slow the machine is with the others.
    await originate(emulator, `call-${lastThree}`, lastThree, `&timeout=${expected.includes(timeOut) ? 8 : 600}`)
    await client.sees(`call-${lastThree}`, "ChannelDestroyed")
    t.strictSame(client.of(`call-${lastThree}`).map(worded), expected, lastThree)
    const entries = emulator.log.of(`call-${lastThree}`)
    const recorded = entries.map(({ by, cause, kind }) => [kind, cause, by].filter((part) => part !== undefined).join(" "))
    t.strictSame(recorded, log)
  }
  const talked = ["originate", "ringing", "answered", "ended 16 callee"]

  await check("101", [...answered, ...goodbye], talked)
  await check("102", ["Dial", "HangupRequest 17 486", "Dial BUSY", "Destroyed 17 486"], ["originate", "ended 17 callee"])
  await check("103", [...ringing, timeOut], ["originate", "ringing", "ended 19 timeout"])
  await check("105", [...answered, "StasisEnd", "Destroyed 38"], ["originate", "ringing", "answered", "ended 38 callee"])
  await check("107", ["Dial", "HangupRequest 21 603", "Dial NOANSWER", "Destroyed 21 603"], ["originate", "ended 21 callee"])
  await check("108", ["Dial", "HangupRequest 1 404", "Dial NOANSWER", "Destroyed 1 404"], ["originate", "ended 1 callee"])
  await check("109", ["Dial", "HangupRequest 34 503", "Dial CONGESTION", "Destroyed 34 503"], ["originate", "ended 34 callee"])
  const keys = ["pressed 1", "pressed 2", "pressed 3", "pressed 4", "pressed #"]
  await check("110", [...answered, ...keys, ...goodbye], talked)
  await check("112", [...answered, ...goodbye], talked)
  const unavailable = ["HangupRequest 19 480", "Dial NOANSWER", "Destroyed 19 480"]
  await check("113", [...ringing, ...unavailable], ["originate", "ringing", "ended 19 callee"])
  await check("114", ["Dial", timeOut], ["originate", "ended 19 timeout"])
  await check("177", [...answered, ...goodbye], talked)
  await check("901", [...answered, "HangupRequest 0", "StasisEnd", "Destroyed 0"], ["originate", "ringing", "answered", "ended 0 callee"])

  t.match(client.events[0]?.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+0000$/)
  t.equal(client.events[0]?.application, "app")
  t.equal(emulator.live(), 0)
})

t.test("given the disorderly callee, then events overtake the response, come backwards, twice, and again after the end", async (t) => {
  const emulator = await start(t)
  const client = await listen(emulator)
  await originate(emulator, "x", "106")
  const wasAnswered = emulator.log.of("x").some((entry) => entry.kind === "answered")
  t.ok(wasAnswered, "answered before the response")
  await until(() => client.of("x").filter((event) => event.type === "ChannelDestroyed").length === 3)
  const end = ["HangupRequest 16", "StasisEnd", "Destroyed 16"]
  t.strictSame(client.of("x").map(worded), [
    ...answered.toReversed(),
    ...answered,
    ...end.toReversed(),
    "Destroyed 16",
    ...answered,
    ...end
  ])
  const kinds = emulator.log.of("x").map((entry) => entry.kind)
  t.strictSame(kinds, ["originate", "ringing", "answered", "ended"])
})
