/** The emulated Cloudonix replies and reports calls as Cloudonix' reference says. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import t, { type Test } from "tap"
import { textAt } from "#adapters/shared/Json.ts"
import { startCloudonixEmulator } from "#test/emulators/cloudonix/CloudonixEmulator.ts"
import { untilTrue } from "#test/support/until.ts"

type Options = Parameters<typeof startCloudonixEmulator>[0]

/** Receives callbacks. */
const takeCallbacks = async (t: Test) => {
  const bodies: Array<unknown> = []
  const keys: Array<unknown> = []
  const server = createServer(async (request, response) => {
    let text = ""
    for await (const chunk of request) text += chunk
    bodies.push(JSON.parse(text))
    keys.push(request.headers["x-cx-apikey"])
    response.writeHead(200).end()
  })
  await new Promise<void>((resolve) => server.listen({ port: 0, host: "127.0.0.1" }, resolve))
  t.teardown(() => server.close())
  return { bodies, keys, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` } // listening on TCP, so neither a path nor null
}

const open = async (t: Test, options: Options = {}) => {
  const emulator = await startCloudonixEmulator(options)
  t.teardown(() => emulator.stop())
  const told = await takeCallbacks(t)
  const ask = async (method: string, path: string, body?: unknown, authorization = `Bearer ${emulator.apiKey}`) => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const headers = { authorization, "content-type": "application/json", connection: "close" }
    const response = await fetch(emulator.url + path, { method, headers, ...sent })
    const text = await response.text()
    const answer: unknown = text === "" ? undefined : JSON.parse(text)
    return { status: response.status, body: answer }
  }
  const calls = `/calls/${emulator.domain.name}`
  const dial = (destination: string, more: object = {}) =>
    ask("POST", `${calls}/application`, {
      destination,
      "caller-id": "+15550009000",
      cxml: '<Response><Pause length="60"/></Response>',
      callback: told.url,
      ...more
    })
  return { emulator, told, ask, calls, dial }
}

t.test("given wrong requests, then they get an error, and nobody is called", async (t) => {
  const { ask, calls, dial, emulator } = await open(t)
  const to = "+14155550111"
  t.match(await ask("GET", `${calls}/sessions`, undefined, "Bearer XIwrong"), { status: 401, body: { message: String } })
  t.match(await ask("GET", "/calls/other.cloudonix.net/sessions"), { status: 404 })
  t.match(await ask("GET", `${calls}/sessions/0123456789abcdef`), { status: 404 })
  t.match(await ask("POST", `${calls}/application`, "text"), { status: 400 })
  const wrong: ReadonlyArray<readonly [object, number]> = [
    [{ destination: undefined }, 400],
    [{ "caller-id": undefined }, 400],
    [{ destination: "+99914155550111" }, 422],
    [{ destination: "1" }, 422],
    [{ "caller-id": "Trunkline" }, 422],
    [{ cxml: "<Response>" }, 400],
    [{ callback: "ftp://example.com" }, 400],
    [{ timeout: "30" }, 400],
    [{ timeLimit: 0.5 }, 400],
    [{ callId: "1" }, 400]
  ]
  for (const [more, status] of wrong) t.equal((await dial(to, more)).status, status, JSON.stringify(more))
  t.equal(emulator.log.count("originate"), 0)
})

t.test("given a call, then its session reports it, and each status is reported several times", async (t) => {
  const { ask, calls, dial, emulator, told } = await open(t, { numbers: ["15550009000"] })
  emulator.domain.staticKey = "cx-static-key-1"
  emulator.domain.recordUrl = told.url
  const placed = await dial("+14155550101", { timeLimit: 60 })
  t.match(placed, { status: 200, body: { domainId: 3, direction: "outbound-api", destination: "+14155550101", token: /^[0-9a-f]{32}$/ } })
  const path = `${calls}/sessions/${textAt(placed.body, "token")}`
  t.match(await ask("GET", path), { status: 200, body: { status: /^(processing|ringing|connected)$/, callEndTime: null, timeLimit: 60 } })
  await untilTrue("end", () => emulator.log.live() === 0)
  await emulator.callbacks.settled()
  const ended = await ask("GET", path)
  t.match(ended, { body: { status: "completed", callAnswerTime: Number, callEndTime: Number, callerId: "+15550009000" } })
  const sessions = told.bodies.map((body) => (Array.isArray(body) ? body[0] : body))
  const statuses = sessions.map((session: unknown) => textAt(session, "status") ?? textAt(session, "disposition") ?? "")
  t.strictSame([...new Set(statuses.slice(0, -1))], ["new", "processing", "ringing", "connected", "completed"])
  t.match(statuses.at(-1), /^(ANSWER|ANSWERED|CONNECTED)$/)
  t.ok(told.bodies.length >= 12, "in bursts")
  t.ok(told.bodies.some(Array.isArray), "some as an array")
  t.strictSame([...new Set(told.keys)], ["cx-static-key-1"])
  t.match(await ask("GET", `${calls}/sessions`), { body: [] }, "then only live sessions are listed")
  t.match(await ask("DELETE", path), { status: 404 })
  emulator.forgetEnded()
  t.match(await ask("GET", path), { status: 404 })
  const domain = `/customers/self/domains/${emulator.domain.name}`
  t.match(await ask("GET", domain), { body: { uuid: String, domain: emulator.domain.name } })
  t.match(await ask("GET", `${domain}/dnids`), { body: [{ source: "15550009000" }] })
})

t.test("given callees who do not answer, then the session says why", async (t) => {
  const { ask, calls, dial, emulator } = await open(t)
  const endOf = async (ending: string, more: object = {}) => {
    const token = textAt((await dial(`+141555501${ending}`, more)).body, "token") ?? ""
    await untilTrue("end", () => emulator.sessions.get(token)?.hasEnded() === true)
    return (await ask("GET", `${calls}/sessions/${token}`)).body
  }
  t.match(await endOf("02"), { status: "busy" })
  t.match(await endOf("03", { timeout: 1 }), { status: "noanswer", callAnswerTime: null })
  t.match(await endOf("07"), { status: "failed", error: "SIP 603" })
  t.match(await endOf("08"), { status: "failed", error: "SIP 404" })
  t.match(await endOf("09"), { status: "congestion" })
  emulator.domain.hasCredit = false
  t.match(await endOf("01"), { status: "nocredit" })
})

t.test("given a live call, when it is hung up, then it ends", async (t) => {
  const { ask, calls, dial, emulator } = await open(t)
  const hangUp = async (until: "ringing" | "answered") => {
    const token = textAt((await dial(until === "ringing" ? "+14155550103" : "+14155550111")).body, "token") ?? ""
    await untilTrue(until, () => emulator.log.of(token).some(({ kind }) => kind === until))
    t.match((await ask("GET", `${calls}/sessions`)).body, [{ token }])
    const { status } = await ask("DELETE", `${calls}/sessions/${token}`)
    return [status, emulator.sessions.get(token)?.status]
  }
  t.strictSame(await hangUp("ringing"), [204, "cancel"])
  emulator.hangupStatus = 200
  t.strictSame(await hangUp("answered"), [200, "completed"])
  t.strictSame([...new Set(emulator.log.entries.filter(({ kind }) => kind === "ended").map(({ by }) => by))], ["us"])
})

t.test("given an answered call, when it gets another document, then it follows that", async (t) => {
  const { ask, calls, dial, emulator, told } = await open(t)
  const token = textAt((await dial("+14155550111")).body, "token") ?? ""
  const give = (cxml: unknown, more: object = {}) => ask("POST", `${calls}/sessions/${token}/application`, { cxml, ...more })
  await untilTrue("answer", () => emulator.sessions.get(token)?.status === "connected")
  const dialing = (attributes: string, number = "<Number>+14155550102</Number>") =>
    `<Response><Dial ${attributes}>${number}</Dial></Response>`
  const action = `action="${told.url}"`
  for (const wrong of [
    undefined,
    "<Response>",
    dialing('statusCallback="https://example.com"'),
    dialing('method="GET"'),
    dialing('action="/relative"'),
    dialing("", "<Number>1</Number>"),
    dialing("", '<Number statusCallback="https://example.com">+14155550102</Number>'),
    dialing("", "<Number>+14155550102</Number><Number>+14155550103</Number>")
  ])
    t.equal((await give(wrong)).status, 400, wrong ?? "none")
  t.equal((await give(dialing(action), { url: "https://example.com" })).status, 400)
  t.equal(emulator.log.count("originate"), 1)
  t.equal((await give(dialing(action, "<Number>+14155550103</Number>"))).status, 202)
  await untilTrue("ringing", () => emulator.log.of("+14155550103").some(({ kind }) => kind === "ringing"))
  t.equal((await give(dialing(action))).status, 202)
  t.match(emulator.log.of("+14155550103").at(-1), { kind: "ended", by: "us" }, "the dial of the document before")
  // No further document follows.
  await untilTrue("end", () => emulator.sessions.get(token)?.hasEnded() === true)
  const asked = told.bodies.filter((body) => textAt(body, "Session") !== undefined)
  t.match(asked, [{ Session: token, CallStatus: "busy", To: "+14155550111" }])
  t.equal((await give(dialing(action))).status, 404)
})

t.test("given a limit of requests, then those beyond it are refused", async (t) => {
  const { ask, calls } = await open(t, { requests: 2 })
  const statuses = []
  for (let n = 0; n < 3; n++) statuses.push((await ask("GET", `${calls}/sessions`)).status)
  t.strictSame(statuses, [200, 200, 429])
})
