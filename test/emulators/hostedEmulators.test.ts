/**
 * What the emulators of hosted carriers refuse, and other things that adapters must not get away with. That they report calls as documented is shown by
 * the adapters, which are tested against them.
 */
import t, { type Test } from "tap"
import { type CarrierName, carrierOf } from "./hostedCarriers.ts"
import { verbsOf } from "./twilio/twiml.ts"

type Fields = Readonly<Record<string, unknown>>

interface Client {
  readonly headers: Readonly<Record<string, string>>
  /** Below which everything of the account is. */
  readonly base: string
  /** Where calls are requested, below it. */
  readonly calls: string
  /** A request that is accepted. */
  readonly request: Fields
  /** What a refusal contains. */
  readonly error: (status: number, code?: number | string | undefined, pointer?: string | undefined) => object
}

const from = "+15550009000"
const nobody = "http://127.0.0.1:9/"
const basic = (id: string, token: string) => `Basic ${Buffer.from(`${id}:${token}`).toString("base64")}`
const dialect = { from: from.slice(1), to: "15550001001", answer_url: nobody, hangup_url: nobody, answer_method: "POST" }
const dialectError = () => ({ api_id: String, error: String })

const clients: Partial<Record<CarrierName, (account: Readonly<Record<string, string>>) => Client>> = {
  cloudonix: ({ bearer_token, domain_id }) => ({
    headers: { authorization: `Bearer ${bearer_token}` },
    base: `/calls/${domain_id}`,
    calls: "/application",
    request: { destination: "+15550001001", "caller-id": from, cxml: '<Response><Pause length="60"/></Response>', callback: nobody },
    error: () => ({ message: String })
  }),
  plivo: ({ auth_id = "", auth_token = "" }) => ({
    headers: { authorization: basic(auth_id, auth_token) },
    base: `/v1/Account/${auth_id}`,
    calls: "/Call/",
    request: dialect,
    error: dialectError
  }),
  telnyx: ({ api_key, connection_id }) => ({
    headers: { authorization: `Bearer ${api_key}` },
    base: "/v2",
    calls: "/calls",
    request: { connection_id, to: "+15550001001", from, webhook_url: nobody },
    error: (_, code, pointer) => ({ errors: [{ code, ...(pointer === undefined ? {} : { source: { pointer } }) }] })
  }),
  twilio: ({ account_sid = "", auth_token = "" }) => ({
    headers: { authorization: basic(account_sid, auth_token) },
    base: `/2010-04-01/Accounts/${account_sid}`,
    calls: "/Calls.json",
    request: { To: "+15550001001", From: from, Twiml: "<Response><Connect/></Response>" },
    error: (status, code) => ({ code, status, message: String, more_info: String })
  }),
  vobiz: ({ auth_id = "", auth_token = "" }) => ({
    headers: { "x-auth-id": auth_id, "x-auth-token": auth_token },
    base: `/api/v1/Account/${auth_id}`,
    calls: "/Call/",
    request: dialect,
    error: dialectError
  })
}

const open = async (t: Test, name: CarrierName) => {
  const emulator = await carrierOf(name).start({ numbers: [from], ringMillis: 20, talkMillis: 20 })
  t.teardown(() => emulator.stop())
  const client = clients[name]?.(emulator.account)
  if (client === undefined) throw new Error(`no client of ${name}`)
  const { base, calls, headers, request } = client
  /** `path`: an absolute one begins with two slashes. */
  const ask = async (method: string, path: string, body?: Fields | string, own: Client["headers"] = headers) => {
    const isForm = name === "twilio" && body !== undefined
    // The form's fields are texts.
    const sent = isForm ? new URLSearchParams(body as Record<string, string>) : typeof body === "string" ? body : JSON.stringify(body)
    const type = isForm || body === undefined ? {} : { "content-type": "application/json" }
    const url = emulator.url + (path.startsWith("//") ? path.slice(1) : base + path)
    const reply = await fetch(url, { method, headers: { ...own, ...type }, ...(sent === undefined ? {} : { body: sent }) })
    const text = await reply.text()
    const read: unknown = text === "" ? undefined : JSON.parse(text)
    return { status: reply.status, body: read }
  }
  return { ask, call: (more: Fields = {}) => ask("POST", calls, { ...request, ...more }), client, emulator }
}

type Refusal = readonly [changed: Fields, status: number, code?: number | string, pointer?: string]
type Strange = readonly [method: string, path: string, status: number, code?: number | string | undefined, headers?: Client["headers"]]

const dialectRefusals: ReadonlyArray<Refusal> = [
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
const dialectStrange: ReadonlyArray<Strange> = [
  ["GET", "/Call/?status=queued", 401, undefined, { authorization: "Basic eDp5" }],
  ["GET", "/Call/00000000/?status=live", 404],
  ["DELETE", "/Call/00000000/", 404],
  ["POST", "/Call", 404]
]

const refusals: Partial<Record<CarrierName, { readonly requests: ReadonlyArray<Refusal>; readonly strange: ReadonlyArray<Strange> }>> = {
  cloudonix: {
    strange: [
      ["GET", "/sessions", 401, undefined, { authorization: "Bearer XIwrong" }],
      ["GET", "//calls/other.cloudonix.net/sessions", 404],
      ["GET", "/sessions/0123456789abcdef", 404]
    ],
    requests: [
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
  },
  plivo: { strange: dialectStrange, requests: dialectRefusals },
  telnyx: {
    strange: [
      ["GET", "/phone_numbers", 401, "10009", { authorization: "Bearer KEYwrong" }],
      ["GET", "/calls/v3:nobody", 404, "10005"]
    ],
    requests: [
      [{ to: undefined }, 422, "10004", "/to"],
      [{ to: "14155550111" }, 422, "10016", "/to"],
      [{ to: ["+14155550111"] }, 422, "10016", "/to"],
      [{ to: "+99914155550111" }, 422, "10002", "/to"],
      [{ from: "Trunkline" }, 422, "10016", "/from"],
      [{ connection_id: "17" }, 404, "10005"],
      [{ client_state: "not base64" }, 422, "10015", "/client_state"],
      [{ timeout_secs: 4 }, 422, "10015", "/timeout_secs"],
      [{ timeout_secs: "30" }, 422, "10015", "/timeout_secs"],
      [{ time_limit_secs: 14_401 }, 422, "10015", "/time_limit_secs"],
      [{ webhook_url: "ftp://example.com" }, 422, "10015", "/webhook_url"],
      [{ webhook_retries_policies: { "call.hangup": { retries_ms: [30_000, 30_001] } } }, 422, "10015", "/webhook_retries_policies"],
      [{ ring_timeout: 30 }, 422, "10015", "/ring_timeout"]
    ]
  },
  twilio: {
    strange: [
      ["GET", ".json", 401, 20003, { authorization: "Basic eDp5" }],
      ["GET", "/Calls/CA1.json", 404, 20404]
    ],
    requests: [
      [{ To: "1000" }, 400, 21211],
      [{ From: "1000" }, 400, 21212],
      [{ From: "+15550009001" }, 400, 21210],
      [{ Twiml: "<Response>" }, 400, 21205],
      [{ Twiml: `<Response><Play digits="${"1".repeat(4000)}"/></Response>` }, 400, 21205],
      [{ StatusCallback: "https://our_host.example.com/" }, 400, 21205],
      [{ Timeout: "601" }, 400, 21208],
      [{ To: "+99155500011" }, 400, 21215],
      [{ To: "+99255500011" }, 400, 21216],
      [{ To: "+99355500011" }, 400, 21217],
      [{ To: "+99455500011" }, 400, 21214]
    ]
  },
  vobiz: {
    strange: [
      ...dialectStrange,
      // A path in lower case is answered like wrong credentials.
      ["GET", "//api/v1/account/ma_7xk2p9qd/Call?status=live", 401]
    ],
    requests: dialectRefusals
  }
}

for (const [name, { requests, strange }] of Object.entries(refusals)) {
  t.test(`given requests that ${name} refuses, then each gets its status, and nobody is called`, async (t) => {
    // `Object.entries` gives the names of an object's members as plain strings.
    const { ask, call, client, emulator } = await open(t, name as CarrierName)
    for (const [method, path, status, code, headers] of strange)
      t.match(
        await ask(method, path, method === "POST" ? client.request : undefined, headers),
        { status, body: client.error(status, code) },
        path
      )
    for (const [more, status, code, pointer] of requests)
      t.match(await call(more), { status, body: client.error(status, code, pointer) }, JSON.stringify(more))
    t.strictSame(emulator.log.entries, [])
    t.ok((await call()).status < 300, "others are accepted")
  })
}

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
