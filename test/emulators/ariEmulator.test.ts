/** The emulated Asterisk as a client of ARI sees it. How it carries calls and audio is shown by the adapter, which the suite also tries on a real one. */
import { once } from "node:events"
import { createRequire } from "node:module"
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

type AriClientEvent = { readonly cause: number; readonly channel: { readonly id: string; readonly state: string } }
type AriClient = {
  start(app: string): Promise<void>
  stop(): void
  on(type: string, listener: (event: AriClientEvent) => void): void
  readonly asterisk: { getInfo(): Promise<{ readonly system: { readonly version: string } }> }
  Channel(): {
    readonly id: string
    originate(options: object): Promise<{ readonly id: string; hangup(): Promise<void> }>
  }
}
type AriClientModule = { connect(url: string, user: string, password: string): Promise<AriClient> }

t.test("given the npm client for Asterisk, then it reads, originates, hears and hangs up as it does with Asterisk", async (t) => {
  const emulator = await start(t)
  // The package has no types; only what is used here is declared above.
  const { connect }: AriClientModule = createRequire(import.meta.url)("ari-client")
  const { log } = console
  console.log = () => {} // it complains about Swagger 1.1, with Asterisk as well as with the emulator
  t.teardown(() => {
    console.log = log
  })
  const client = await connect(emulator.url, emulator.user, emulator.password)
  t.equal((await client.asterisk.getInfo()).system.version, "22.10.1")
  const events: Array<string> = []
  client.on("StasisStart", (event) => events.push(`started ${event.channel.state}`))
  client.on("ChannelDestroyed", (event) => events.push(`ended ${event.cause}`))
  await client.start("app")
  const channel = await client.Channel().originate({ endpoint: "PJSIP/+15550001111@trunk", app: "app", variables: { A: "b" } })
  t.equal((await rest(emulator, "GET", `/channels/${channel.id}/variable?variable=A`)).body.value, "b")
  await until(() => events.length === 1)
  await channel.hangup()
  await until(() => events.length === 2)
  t.strictSame(events, ["started Up", "ended 16"])
  t.match(emulator.log.of(channel.id).at(-1), { kind: "ended", by: "us" })
  client.stop()
})
