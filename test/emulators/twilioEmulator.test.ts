/** The emulated Twilio behaves as documented: errors, records, callbacks and prices. */
import t, { type Test } from "tap"
import { TwilioEmulator } from "#test/emulators/twilio/TwilioEmulator.ts"
import { verbsOf } from "#test/emulators/twilio/twiml.ts"
import { documentServer } from "#test/support/documentServer.ts"
import { until, untilTrue } from "#test/support/until.ts"

/** The part of a reply that the tests below read. */
interface Body {
  readonly sid: string
  readonly price: string | null
  readonly calls: ReadonlyArray<unknown>
}

const from = "+15550009000"
const open = async (t: Test, options: Partial<ConstructorParameters<typeof TwilioEmulator>[0]> = {}) => {
  const emulator = await TwilioEmulator.start({ numbers: [from], callsPerSecond: 1000, ringMillis: 20, talkMillis: 20, ...options })
  t.teardown(() => emulator.stop())
  const authorization = `Basic ${Buffer.from(`${emulator.accountSid}:${emulator.authToken}`).toString("base64")}`
  const ask = async (path: string, form?: Readonly<Record<string, string>>, headers = { authorization }) => {
    const url = `${emulator.server.url}/2010-04-01/Accounts/${emulator.accountSid}${path}`
    const reply = await fetch(url, form === undefined ? { headers } : { method: "POST", body: new URLSearchParams(form), headers })
    const body = (await reply.json()) as Body // the tests fail on any other
    return { status: reply.status, body }
  }
  const call = (more: Readonly<Record<string, string>> = {}) =>
    ask("/Calls.json", { To: "+15550001001", From: from, Twiml: "<Response><Connect/></Response>", ...more })
  return { ask, call, emulator }
}

t.test("given requests that Twilio refuses, then each gets its code", async (t) => {
  const { ask, call, emulator } = await open(t)
  const error = (status: number, code: number) => ({ status, body: { code, status, message: String, more_info: String } })
  t.match(await ask(".json", undefined, { authorization: "Basic eDp5" }), error(401, 20003))
  t.match(await ask("/Calls/CA1.json"), error(404, 20404))
  const codes: ReadonlyArray<readonly [form: Readonly<Record<string, string>>, code: number]> = [
    [{ To: "1000" }, 21211],
    [{ From: "1000" }, 21212],
    [{ From: "+15550009001" }, 21210],
    [{ Twiml: "<Response>" }, 21205],
    [{ Twiml: `<Response><Play digits="${"1".repeat(4000)}"/></Response>` }, 21205],
    [{ StatusCallback: "https://our_host.example.com/" }, 21205],
    [{ Timeout: "601" }, 21208],
    [{ To: "+99155500011" }, 21215],
    [{ To: "+99255500011" }, 21216],
    [{ To: "+99355500011" }, 21217],
    [{ To: "+99455500011" }, 21214]
  ]
  for (const [form, code] of codes) t.match(await call(form), error(400, code), String(code))
  t.strictSame(emulator.log.entries, [])
  emulator.standing = "suspended"
  t.match(await call(), error(403, 20005))
  t.match(await ask(".json"), { status: 200, body: { sid: emulator.accountSid, status: "suspended" } })
})

t.test("given a call, then its record and its callbacks report it, and its price comes later", async (t) => {
  const { ask, call, emulator } = await open(t, { priceMillis: 300 })
  const nobody = "http://127.0.0.1:9/status#rc=1"
  const { body, status } = await call({ StatusCallback: nobody, To: "+15550001011" })
  t.match([status, body], [201, { sid: /^CA[0-9a-f]{32}$/, status: "queued", start_time: null, price: null, date_created: / \+0000$/ }])
  await untilTrue("answer", () => emulator.log.count("answered") === 1)
  t.match(await ask(`/Calls/${body.sid}.json`), { body: { status: "in-progress", start_time: String, end_time: null } })
  t.match(await ask(`/Calls/${body.sid}.json`, { Status: "canceled" }), { status: 400, body: { code: 21220 } })
  t.match(await ask(`/Calls/${body.sid}.json`, { Status: "completed" }), { status: 200, body: { status: "completed", price: null } })
  t.match(await ask(`/Calls/${body.sid}.json`, { Status: "completed" }), { status: 400, body: { code: 21220 } })
  await emulator.sender.settled()
  const [told, again] = emulator.sender.deliveries
  t.strictSame([...new URLSearchParams(told?.body)].map(([name]) => name).toSorted(), [
    "AccountSid",
    "ApiVersion",
    "CallDuration",
    "CallSid",
    "CallStatus",
    "CallbackSource",
    "Called",
    "CalledCity",
    "CalledCountry",
    "Caller",
    "Direction",
    "Duration",
    "From",
    "SequenceNumber",
    "SipResponseCode",
    "Timestamp",
    "To"
  ])
  t.strictSame(again?.headers, told?.headers, "a retry has the same signature and token")
  const priced = await until("price", async () => {
    const reply = await ask(`/Calls/${body.sid}.json`)
    return reply.body.price === null ? undefined : reply.body
  })
  t.match(priced, { price: "-0.0130", price_unit: "USD", duration: "1" })
})

t.test(
  "given a call that dials a destination, when it gets another document, then Twilio requests the document after the dial, and ignores it",
  async (t) => {
    const { ask, call, emulator } = await open(t)
    const dialing = (number: string, attributes = "") => `<Response><Dial ${attributes}><Number>${number}</Number></Dial></Response>`
    const action = await documentServer(t, dialing("+15550003002"))
    const { body } = await call({ To: "+15550001011", Twiml: dialing("+15550002003", `action="${action}"`) })
    await untilTrue("ringing at the destination", () => emulator.log.of("+15550002003").some(({ kind }) => kind === "ringing"))
    t.match(await ask(`/Calls/${body.sid}.json`, { Twiml: '<Response><Pause length="600"/></Response>' }), { status: 200 })
    t.match(emulator.log.of("+15550002003").at(-1), { kind: "ended", by: "us" })
    await emulator.sender.settled()
    t.match(emulator.sender.deliveries, [{ url: action, reply: dialing("+15550003002") }])
    t.strictSame(emulator.log.of("+15550003002"), [])
    t.match(await ask(`/Calls/${body.sid}.json`), { body: { status: "in-progress" } })
  }
)

t.test("given calls beyond the rate, then they are listed as queued until they leave", async (t) => {
  const { ask, call, emulator } = await open(t)
  emulator.holdQueue(true)
  await call()
  await call({ To: "+15550002001" })
  t.equal((await ask("/Calls.json?Status=queued")).body.calls.length, 2)
  t.match((await ask("/Calls.json?Status=queued&To=%2B15550002001")).body.calls, [{ to: "+15550002001" }])
  t.strictSame((await ask("/Calls.json?StartTime%3E=2020-01-01")).body.calls, [], "they have no start time")
  emulator.holdQueue(false)
  await untilTrue("calls", () => emulator.log.count("ended") === 2)
  t.equal((await ask("/Calls.json?StartTime%3E=2020-01-01&PageSize=1")).body.calls.length, 1)
})

t.test("given TwiML, then only what is well-formed is read", async (t) => {
  const stream = { name: "Stream", attributes: { url: "wss://host/a&b" }, children: [] }
  t.strictSame(verbsOf('<?xml version="1.0"?><Response><Connect><Stream url="wss://host/a&amp;b"/></Connect></Response>'), [
    { name: "Connect", attributes: {}, children: [stream] }
  ])
  t.strictSame(verbsOf("<Response/>"), [])
  const wrong = [
    "",
    "<Say/>",
    "<Response>",
    "<Response></Connect>",
    '<Response><Stream url="a&b"/></Response>',
    '<Response><Stream url="&nbsp;"/></Response>',
    "<Response/><Response/>"
  ]
  for (const text of wrong) t.equal(verbsOf(text), undefined, text)
})
