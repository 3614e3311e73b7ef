/** The emulated Telnyx replies and signs as Telnyx documents. */
import t, { type Test } from "tap"
import { textAt } from "#adapters/shared/Json.ts"
import { proofOf } from "#adapters/telnyx/signature.ts"
import { startTelnyxEmulator } from "#test/emulators/telnyx/TelnyxEmulator.ts"
import { untilTrue } from "#test/support/until.ts"

type Options = Parameters<typeof startTelnyxEmulator>[0]

const open = async (t: Test, options: Options = {}) => {
  const emulator = await startTelnyxEmulator(options)
  t.teardown(() => emulator.stop())
  const ask = async (method: string, path: string, body?: unknown, authorization = `Bearer ${emulator.apiKey}`) => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const headers = { authorization, "content-type": "application/json", connection: "close" }
    const response = await fetch(`${emulator.url}/v2${path}`, { method, headers, ...sent })
    const answer: unknown = await response.json()
    return { status: response.status, body: answer }
  }
  const dial = (more: object = {}) =>
    ask("POST", "/calls", {
      connection_id: emulator.connectionId,
      to: "+14155550111",
      from: "+15550009000",
      webhook_url: "http://127.0.0.1:9/",
      ...more
    })
  return { emulator, ask, dial }
}

const error = (status: number, code: string, pointer?: string) => ({
  status,
  body: { errors: [{ code, ...(pointer === undefined ? {} : { source: { pointer } }) }] }
})

t.test("invalid requests get Telnyx' status and code", async (t) => {
  const { ask, dial, emulator } = await open(t, { channels: 1, dials: 20 })
  t.match(await ask("GET", "/phone_numbers", undefined, "Bearer KEYwrong"), error(401, "10009"))
  t.match(await ask("POST", "/calls", "text"), error(400, "10015"))
  const wrong: ReadonlyArray<readonly [object, ReturnType<typeof error>]> = [
    [{ to: undefined }, error(422, "10004", "/to")],
    [{ to: "14155550111" }, error(422, "10016", "/to")],
    [{ to: ["+14155550111"] }, error(422, "10016", "/to")],
    [{ to: "+99914155550111" }, error(422, "10002", "/to")],
    [{ from: "Trunkline" }, error(422, "10016", "/from")],
    [{ connection_id: "17" }, error(404, "10005")],
    [{ client_state: "not base64" }, error(422, "10015", "/client_state")],
    [{ timeout_secs: 4 }, error(422, "10015", "/timeout_secs")],
    [{ timeout_secs: "30" }, error(422, "10015", "/timeout_secs")],
    [{ time_limit_secs: 14_401 }, error(422, "10015", "/time_limit_secs")],
    [{ webhook_url: "ftp://example.com" }, error(422, "10015", "/webhook_url")],
    [{ webhook_retries_policies: { "call.hangup": { retries_ms: [30_000, 30_001] } } }, error(422, "10015", "/webhook_retries_policies")],
    [{ ring_timeout: 30 }, error(422, "10015", "/ring_timeout")]
  ]
  for (const [more, expected] of wrong) t.match(await dial(more), expected, JSON.stringify(more))
  t.equal(emulator.log.count("originate"), 0)

  const placed = await dial({ command_id: "one" })
  t.match(placed, { status: 200, body: { data: { record_type: "call", is_alive: false, call_control_id: /^v3:.+:/ } } })
  const id = textAt(placed.body, "data", "call_control_id") ?? ""
  t.match(await dial({ command_id: "one" }), { body: { data: { call_control_id: id } } }, "a repeat is ignored")
  t.match(await dial({ command_id: "two" }), error(403, "D1"))
  t.equal(emulator.log.count("originate"), 1)

  const path = `/calls/${encodeURIComponent(id)}`
  t.match(await ask("POST", `${path}/actions/hangup`, {}), { status: 200, body: { data: { result: "ok" } } })
  t.match(await ask("POST", `${path}/actions/hangup`, {}), error(422, "90018"))
  t.match(await ask("GET", path), { body: { data: { is_alive: false, end_time: String } } })
  t.match(await ask("GET", "/calls/v3:nobody"), error(404, "10005"))
  t.match(await ask("GET", `/connections/${emulator.connectionId}/active_calls`), { body: { data: [], meta: { total_items: 0 } } })
})

t.test("too many dials in five seconds are refused", async (t) => {
  const { dial, emulator } = await open(t, { dials: 2 })
  emulator.dialWindowMillis = Number.POSITIVE_INFINITY
  t.strictSame([(await dial()).status, (await dial()).status], [200, 200])
  t.match(await dial(), error(429, "90103"))
  t.equal(emulator.log.count("originate"), 2)
})

t.test("webhooks are signed with the account's key, and name their call", async (t) => {
  const { dial, emulator } = await open(t)
  await dial({ to: "+14155550104", client_state: "b25l", answering_machine_detection: "premium" })
  await untilTrue("the detection's webhook", () => emulator.callbacks.deliveries.some(({ body }) => body.includes("detection.ended")))
  const events = new Map(emulator.callbacks.deliveries.map(({ body }) => [JSON.parse(body).data.event_type, JSON.parse(body)]))
  t.strictSame([...events.keys()], ["call.initiated", "call.answered", "call.machine.premium.detection.ended"])
  const payload = { client_state: "b25l", from: "+15550009000", to: "+14155550104", connection_id: emulator.connectionId }
  t.match(events.get("call.answered"), { data: { record_type: "event", id: String, occurred_at: String, payload }, meta: { attempt: 1 } })
  t.match(events.get("call.machine.premium.detection.ended"), { data: { payload: { result: "machine" } } })
  const [sent] = emulator.callbacks.deliveries
  const signed = { method: "POST", url: "", headers: sent?.headers ?? {}, body: Buffer.from(sent?.body ?? ""), at: Date.now() } as const
  t.ok(proofOf(signed, emulator.publicKey))
  t.notOk(proofOf({ ...signed, body: Buffer.from("{}") }, emulator.publicKey))
})
