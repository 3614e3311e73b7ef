import { once } from "node:events"
import t from "tap"
import { WebSocket } from "ws"
import { type AriEvent, credentials, listen, originate, rest, start, until } from "./ari/bareClient.ts"

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
const weHangUp = ["HangupRequest 32", "StasisEnd", "Destroyed 16"]
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
    t.strictSame(
      entries.map(({ by, cause, kind }) => [kind, cause, by].filter((part) => part !== undefined).join(" ")),
      log
    )
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

t.test("given a callee who stays, when we hang up, then the call ends with the cause we name", async (t) => {
  const emulator = await start(t)
  const client = await listen(emulator)
  for (const lastThree of ["104", "111"]) {
    await originate(emulator, lastThree, lastThree, "&appArgs=call,42")
    await client.sees(lastThree, "StasisStart")
    t.equal((await rest(emulator, "DELETE", `/channels/${lastThree}`)).status, 204)
    await client.sees(lastThree, "ChannelDestroyed")
    t.strictSame(client.of(lastThree).map(worded), [...answered, ...weHangUp])
    t.strictSame(client.of(lastThree).find((event) => event.type === "StasisStart")?.args, ["call", "42"])
    t.match(emulator.log.of(lastThree).at(-1), { kind: "ended", cause: 16, by: "us" })
  }
  await originate(emulator, "ringing", "103")
  await client.sees("ringing", "ChannelStateChange")
  await rest(emulator, "DELETE", "/channels/ringing?reason=no_answer")
  await client.sees("ringing", "ChannelDestroyed")
  t.strictSame(client.of("ringing").map(worded), [...ringing, "HangupRequest 32", "Destroyed 19"])
  t.equal((await rest(emulator, "DELETE", "/channels/ringing")).status, 404)
})

t.test("given the disorderly callee, then events overtake the response, come backwards, twice, and again after the end", async (t) => {
  const emulator = await start(t)
  const client = await listen(emulator)
  await originate(emulator, "x", "106")
  t.ok(
    emulator.log.of("x").some((entry) => entry.kind === "answered"),
    "answered before the response"
  )
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
  t.strictSame(
    emulator.log.of("x").map((entry) => entry.kind),
    ["originate", "ringing", "answered", "ended"]
  )
})

t.test("given a request that Asterisk refuses, then it says so as Asterisk does", async (t) => {
  const emulator = await start(t)
  await listen(emulator)
  const post = (query: string) => rest(emulator, "POST", `/channels?${query}`)
  t.equal((await post("app=app")).status, 400)
  t.equal((await post("endpoint=nonsense&app=app")).status, 400)
  t.equal((await post("endpoint=PJSIP/%2B15550001101@trunk")).status, 400)
  t.strictSame(await post("endpoint=PJSIP/%2B15550001101@unknown&app=app"), { status: 500, body: { error: "Allocation failed" } })
  t.match(await originate(emulator, "abc1", "111"), { status: 200, body: { id: "abc1", state: "Down" } })
  for (const [id, status] of [
    ["abc1", 409],
    ["ABC1", 409],
    ["ab", 409],
    ["abc12", 200],
    ["b", 200]
  ] as const) {
    t.equal((await originate(emulator, id, "111")).status, status, id)
  }
  t.equal((await rest(emulator, "POST", `/channels/abc1?endpoint=PJSIP/1101@trunk&app=app`)).status, 409)
  t.equal((await rest(emulator, "DELETE", "/channels/nobody")).status, 404)
  t.equal((await rest(emulator, "DELETE", "/channels/abc1?reason_code=normal")).status, 400)
  t.equal((await rest(emulator, "GET", "/channels")).body.length, 3)
  t.equal((await rest(emulator, "GET", "/channels/abc1")).body.id, "abc1")

  t.equal((await rest({ url: emulator.url, user: emulator.user, password: "wrong" }, "GET", "/channels")).status, 401)
  emulator.setPassword("changed")
  const old = new WebSocket(`${emulator.url}/ari/events?app=app&api_key=${emulator.user}:secret`)
  t.match((await once(old, "error"))[0], /401/)
  const nameless = new WebSocket(`${emulator.url}/ari/events`, { headers: { authorization: credentials(emulator) } })
  t.match((await once(nameless, "error"))[0], /400/)
})

t.test("given the events' socket", async (t) => {
  t.test("when nobody is connected for the app, then the call is placed, and dropped without an event when it is answered", async (t) => {
    const emulator = await start(t)
    t.equal((await originate(emulator, "x", "111")).status, 200)
    await until(() => emulator.live() === 0)
    t.strictSame(
      emulator.log.of("x").map((entry) => entry.kind),
      ["originate", "ringing", "answered", "ended"]
    )
  })

  t.test("when it drops, then calls continue, events in the meantime are lost, and later ones arrive again", async (t) => {
    const emulator = await start(t)
    const before = await listen(emulator)
    await originate(emulator, "up", "111")
    await before.sees("up", "StasisStart")
    await originate(emulator, "ringing", "111")
    emulator.dropSockets()
    t.equal((await once(before.socket, "close"))[0], 1006)
    await until(() => emulator.log.of("ringing").some((entry) => entry.kind === "ended"))
    const after = await listen(emulator)
    t.strictSame(
      (await rest(emulator, "GET", "/channels")).body.map((channel: { id: string }) => channel.id),
      ["up"]
    )
    await rest(emulator, "DELETE", "/channels/up")
    await after.sees("up", "ChannelDestroyed")
    t.strictSame(after.events.map(worded), weHangUp)
  })

  t.test(
    "when a second client connects, then the first is told once and gets nothing more, and the app ends with the second",
    async (t) => {
      const emulator = await start(t)
      const first = await listen(emulator)
      const second = await listen(emulator)
      await originate(emulator, "x", "101")
      await second.sees("x", "ChannelDestroyed")
      t.strictSame(
        first.events.map((event) => event.type),
        ["ApplicationReplaced"]
      )
      second.socket.close()
      await once(second.socket, "close")
      await originate(emulator, "y", "111")
      await until(() => emulator.live() === 0)
      t.equal(first.events.length, 1)
      t.equal(first.socket.readyState, WebSocket.OPEN)
    }
  )

  t.test("when a filter is set, then only what it allows comes, and events can be late", async (t) => {
    const emulator = await start(t)
    const client = await listen(emulator)
    const allowed = ["StasisStart", "ChannelDestroyed"].map((type) => ({ type }))
    t.equal((await rest(emulator, "PUT", "/applications/app/eventFilter", { allowed })).body.events_allowed.length, 2)
    await originate(emulator, "x", "101")
    await client.sees("x", "ChannelDestroyed")
    t.strictSame(
      client.events.map((event) => event.type),
      ["StasisStart", "ChannelDestroyed"]
    )
    emulator.delayEvents(150)
    await originate(emulator, "y", "108")
    await until(() => emulator.live() === 0)
    t.equal(client.of("y").length, 0)
    await client.sees("y", "ChannelDestroyed")
  })
})
