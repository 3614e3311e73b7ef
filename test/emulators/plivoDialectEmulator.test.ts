/** The emulated Plivo and Vobiz behave as documented: errors, queue, records, signatures and callbacks. */
import t, { type Test } from "tap"
import { account as plivo, startPlivoEmulator } from "#test/emulators/plivo/PlivoEmulator.ts"
import { signed, upgradeHeaders } from "#test/emulators/plivo/signed.ts"
import type { DialectOptions } from "#test/emulators/shared/PlivoDialectEmulator.ts"
import { account as vobiz, startVobizEmulator } from "#test/emulators/vobiz/VobizEmulator.ts"
import { signatureOf } from "#test/emulators/vobiz/signed.ts"
import { documentServer } from "#test/support/documentServer.ts"
import { untilTrue } from "#test/support/until.ts"

const from = "15550009000"
const nobody = "http://127.0.0.1:9/"
const fast = { numbers: [`+${from}`], ringMillis: 20, talkMillis: 20, callsPerSecond: Number.POSITIVE_INFINITY }
const plivoHeaders = { authorization: `Basic ${Buffer.from(`${plivo.authId}:${plivo.authToken}`).toString("base64")}` }
const vobizHeaders = { "x-auth-id": vobiz.authId, "x-auth-token": vobiz.authToken }

const openOne = async (t: Test, name: "Plivo" | "Vobiz", options: Partial<DialectOptions> = {}) => {
  const start = { Plivo: startPlivoEmulator, Vobiz: startVobizEmulator }[name]
  const emulator = await start({ ...fast, ...options })
  t.teardown(() => emulator.stop())
  const base = { Plivo: `/v1/Account/${plivo.authId}`, Vobiz: `/api/v1/Account/${vobiz.authId}` }[name]
  const own: Readonly<Record<string, string>> = { Plivo: plivoHeaders, Vobiz: vobizHeaders }[name]
  const ask = async (method: string, path: string, body?: object, headers = own) => {
    const reply = await fetch(emulator.url + (path.startsWith("/") ? base + path : `/${path}`), {
      method,
      headers: body === undefined ? headers : { ...headers, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await reply.text()
    // The tests compare all of it that they read.
    return { status: reply.status, body: (text === "" ? undefined : JSON.parse(text)) as Readonly<Record<string, unknown>> | undefined }
  }
  const call = (more: object = {}) =>
    ask("POST", "/Call/", { from, to: "15550001001", answer_url: nobody, hangup_url: nobody, answer_method: "POST", ...more })
  return { ask, call, emulator }
}

for (const name of ["Plivo", "Vobiz"] as const) {
  t.test(`given requests that ${name} refuses, then each gets its status, and nobody is called`, async (t) => {
    const { ask, call, emulator } = await openOne(t, name)
    const error = (status: number) => ({ status, body: { api_id: String, error: String } })
    t.match(await ask("GET", "/Call/?status=queued", undefined, { authorization: "Basic eDp5" }), error(401))
    t.match(await ask("GET", "/Call/00000000/?status=live"), error(404))
    t.match(await ask("DELETE", "/Call/00000000/"), error(404))
    t.match(await ask("POST", "/Call", { from }), error(404), "without the slash")
    const problems: ReadonlyArray<readonly [body: object, status: number]> = [
      [{ to: "1000" }, 400],
      [{ to: "15550001001<15550001002" }, 400],
      [{ from: "15550009001" }, 400],
      [{ answer_url: "ftp://example.com/" }, 400],
      [{ ring_timeout: 0 }, 400],
      [{ time_limit: 1.5 }, 400],
      [{ machine_detection: "maybe" }, 400],
      [{ surprise: 1 }, 400],
      [{ to: "99155500011" }, 403],
      [{ to: "99255500011" }, 402]
    ]
    for (const [body, status] of problems) t.match(await call(body), error(status), JSON.stringify(body))
    t.strictSame(emulator.log.entries, [])
  })

  t.test(
    `given a call through ${name} that dials a destination, when it is sent elsewhere, then it follows no other document`,
    async (t) => {
      const { ask, call, emulator } = await openOne(t, name)
      const dialing = (number: string, action: string) => {
        const told = `action="${action}" method="POST" callbackUrl="${action}" callbackMethod="POST"`
        return `<Response><Dial ${told} callerId="${from}" timeout="30"><Number>${number}</Number></Dial></Response>`
      }
      const action = await documentServer(t, dialing("15550003002", nobody))
      const answer_url = await documentServer(t, dialing("15550002003", action))
      await call({ to: "15550001011", answer_url })
      const [made] = emulator.callsTo("+15550001011")
      await untilTrue("ringing at the destination", () => emulator.log.of("+15550002003").some(({ kind }) => kind === "ringing"))
      const aleg_url = await documentServer(t, '<Response><Wait length="600"/></Response>')
      t.match(await ask("POST", `/Call/${made?.uuid}/`, { legs: "aleg", aleg_url, aleg_method: "POST" }), { status: 202 })
      await untilTrue("the end of the dial", () => emulator.log.of("+15550002003").some(({ by, kind }) => kind === "ended" && by === "us"))
      await emulator.sender.settled()
      t.match(emulator.sender.deliveries.at(-1), { url: action }, "the dial that is over")
      t.strictSame(emulator.log.of("+15550003002"), [])
      t.equal(made?.state, "in-progress")
    }
  )

  t.test(`given a call through ${name}, then its records describe it from beginning to end`, async (t) => {
    const { ask, call, emulator } = await openOne(t, name, { recordMillis: 200 })
    // As long as the answer document is not requested, the call stays up.
    emulator.sender.hold()
    const { body, status } = await call({ to: "15550001011" })
    t.equal(status, name === "Plivo" ? 201 : 200)
    const [made] = emulator.callsTo("+15550001011")
    t.equal(body?.["request_uuid"], made?.requestUuid)
    t.equal(made?.uuid === made?.requestUuid, name === "Vobiz", "it has one id or two")
    await untilTrue("answer", () => emulator.log.count("answered") === 1)
    const live = { call_status: "in-progress", call_uuid: made?.uuid, request_uuid: made?.requestUuid, to: "15550001011" }
    t.match(await ask("GET", `/Call/${made?.uuid}/?status=live`), { status: 200, body: live })
    t.match(await ask("POST", `/Call/${made?.uuid}/DTMF/`, { digits: "12#", leg: "aleg" }), { status: 202 })
    t.equal(emulator.log.pressed(made?.uuid ?? ""), "12#")
    t.match(await ask("GET", name === "Plivo" ? "/Call/?status=live" : "/Call?status=live"), { body: { calls: [made?.uuid] } })
    t.match(await ask("DELETE", `/Call/${made?.uuid}/`), { status: 204 })
    t.match(await ask("DELETE", `/Call/${made?.uuid}/`), { status: 404 })
    t.match(await ask("GET", `/Call/${made?.uuid}/?status=live`), { status: 404 })
    const record = name === "Plivo" ? `/Call/${made?.uuid}/` : `/cdr/${made?.uuid}`
    await untilTrue("record", async () => (await ask("GET", record)).status === 200)
    const details = (await ask("GET", record)).body
    t.match(name === "Plivo" ? details : details?.["data"], name === "Plivo" ? { call_uuid: made?.uuid } : { uuid: made?.uuid })
  })
}

t.test("given Plivo's test vectors, then callbacks and requests for sockets are signed like them", async (t) => {
  const fields = {
    CallStatus: "completed",
    CallUUID: "abc-1",
    Direction: "outbound",
    Event: "Hangup",
    From: "15005550006",
    HangupCauseCode: "4000",
    To: "14155550100"
  }
  const nonce = "12345678901234567890"
  const signatureAt = (url: string) => signed(url, fields, "plivo-auth-token-0001", nonce).headers["x-plivo-signature-v3"]
  t.equal(signatureAt("https://voice.example.com/plivo/hangup/42"), "QzG7tYsX/Sm6g2dSEo+VJ5N702Sky205ISmpHZKmxAw=")
  t.equal(signatureAt("https://voice.example.com/plivo/hangup/42?wf=7&org=3#rc=5"), "YKwB6mLtqkFwhgWux3B0hS6XO4ukp2hhjSvwQDhz9OA=")
  const upgrade = upgradeHeaders("wss://voice.example.com/ws/media/tok", "plivo-auth-token-0001", nonce)
  t.equal(upgrade["x-plivo-signature-v3"], "P3Mhy5HMbSGy80RJKNvKnjzk+Zu9+zIJjKaG961yK0M=")
})

t.test("given Vobiz' test vectors, then callbacks are signed like them", async (t) => {
  const headers = signatureOf("https://voice.example.com/vobiz/hangup/42?x=1", "vobiz-auth-token-0001", "98765432109876543210")
  t.match(headers, {
    "x-vobiz-signature-v2": "zUg54aua8FtLMd0c6G/VST/yUIxMvfAtj5Dw/OjabkE=",
    "x-vobiz-signature-v3": "3PedZMG1e6N1X1GiOTAm9rj8Rxrn60YNR2lBrlRdQ8A="
  })
})

t.test("given calls beyond Plivo's rate, then they wait, can be canceled, and are placed one after the other", async (t) => {
  const { ask, call, emulator } = await openOne(t, "Plivo")
  emulator.holdQueue(true)
  t.match(await call(), { status: 201, body: { message: "call queued" } })
  await call({ to: "15550002001" })
  const [first, second] = [...emulator.calls.values()]
  t.match(await ask("GET", "/Call/?status=queued&to_number=15550002001"), { body: { calls: [second?.uuid] } })
  t.match(await ask("GET", `/Call/${second?.uuid}/?status=queued`), { body: { call_status: "queued" } })
  t.match(await ask("DELETE", `/Request/${first?.requestUuid}/`), { status: 204 })
  t.match(await ask("DELETE", `/Request/${first?.requestUuid}/`), { status: 404 })
  emulator.holdQueue(false)
  await untilTrue("end", () => emulator.log.count("ended") === 1)
  t.strictSame([...emulator.log.dialsByNumber()], [["+15550002001", 1]], "the other one never rang")
})

t.test("given a hang-up without an id, then Plivo ends all calls of the account", async (t) => {
  const { ask, call, emulator } = await openOne(t, "Plivo")
  for (const to of ["15550001003", "15550002003"]) await call({ to })
  await untilTrue("calls", () => emulator.log.count("ringing") === 2)
  t.equal((await ask("DELETE", "/Call/")).status, 204)
  t.equal(emulator.log.live(), 0)
})

t.test("given calls beyond Vobiz' rate, or a path in lower case, then they are refused", async (t) => {
  // A window of a second, in which even a busy machine sends both requests.
  const { ask, call } = await openOne(t, "Vobiz", { callsPerSecond: 1, timeScale: 1000 })
  t.equal((await call()).status, 200)
  t.equal((await call()).status, 429)
  t.equal((await ask("GET", `api/v1/account/${vobiz.authId}/Call?status=live`)).status, 401)
  t.equal((await ask("GET", "/Call?status=live", undefined, { ...vobizHeaders, authorization: "Basic eDp5" })).status, 401)
})

t.test("given more requests than Plivo accepts, then the others are refused", async (t) => {
  // A window that is longer than a busy machine needs to send them.
  const { ask } = await openOne(t, "Plivo", { mostRequests: { millis: 600_000, requests: 300 } })
  const statuses = await Promise.all(Array.from({ length: 305 }, async () => (await ask("GET", "/Number/?limit=1")).status))
  t.equal(statuses.filter((status) => status === 429).length, 5)
})

t.test("given an end, then Plivo's callback has all of its fields, and Vobiz' has no code", async (t) => {
  for (const name of ["Plivo", "Vobiz"] as const) {
    const { call, emulator } = await openOne(t, name)
    await call({ to: "15550001002" })
    await untilTrue("delivery", () => emulator.sender.deliveries.length > 0)
    const fields = Object.fromEntries(new URLSearchParams(emulator.sender.deliveries[0]?.body))
    t.match(fields, {
      CallUUID: String,
      RequestUUID: String,
      Direction: "outbound",
      Event: "Hangup",
      HangupCause: "USER_BUSY",
      BillDuration: "0"
    })
    t.strictSame([fields["CallStatus"], fields["HangupCauseCode"]], name === "Plivo" ? ["busy", "3010"] : ["completed", undefined])
    t.notOk("AnswerTime" in fields)
  }
})
