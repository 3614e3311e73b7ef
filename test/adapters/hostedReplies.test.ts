/**
 * What each hosted carrier's replies prove, as pure functions read them: a call was placed only if the reply names it, and refused only if the carrier
 * itself says so. T8, N12 and so on are cases of the carriers' conformance lists.
 */
import fc from "fast-check"
import t from "tap"
import * as cloudonix from "#adapters/cloudonix/CloudonixAccount.ts"
import * as plivo from "#adapters/plivo/PlivoAccount.ts"
import type { Account } from "#adapters/shared/HostedCarrier.ts"
import { NotSent, type Reply } from "#adapters/shared/HttpClient.ts"
import { masked } from "#adapters/shared/Json.ts"
import { acceptedBy } from "#adapters/shared/PlivoDialectReplies.ts"
import { originated, standingOf } from "#adapters/shared/replies.ts"
import * as telnyx from "#adapters/telnyx/TelnyxAccount.ts"
import * as twilio from "#adapters/twilio/TwilioAccount.ts"
import * as vobiz from "#adapters/vobiz/VobizAccount.ts"
import * as vonage from "#adapters/vonage/VonageAccount.ts"
import { errorOf } from "#test/emulators/vonage/VonageErrors.ts"
import { forAllOf } from "#test/support/forAll.ts"

type Given = readonly [status: number, body?: unknown]
type Refused = readonly [status: number, body: unknown, expected: object]

interface Carrier {
  readonly account: Account
  readonly placed: object
  readonly id: string
  /** What proves nothing, besides what proves nothing in the reply of any carrier. */
  readonly proofless: ReadonlyArray<Given>
  readonly refused: ReadonlyArray<Refused>
  /** The statuses with which these errors of the carrier itself refuse a call. */
  readonly proofs: readonly [errors: ReadonlyArray<(status: number) => unknown>, statuses: ReadonlyArray<number>]
  /** What shows that the trunk is up, and what that its credentials are wrong. */
  readonly up: ReadonlyArray<unknown>
  readonly mistaken: ReadonlyArray<readonly [status: number, body: unknown, detail?: RegExp]>
  readonly unreachable: ReadonlyArray<Given>
}

const number = "+15551234567"
const accountId = `AC${"0".repeat(32)}`
const uuid = "8a6b3c1e-0d1f-4a2b-9c3d-5e6f7a8b9c0d"
const twilioError = (status: number, code: number) => ({ code, message: `No call to ${number} from ${accountId}`, status })
const telnyxError = (code: unknown, pointer?: string) => ({
  code,
  title: "t",
  detail: `No call to ${number}`,
  ...(pointer === undefined ? {} : { source: { pointer } })
})
const telnyxErrors = (...errors: ReadonlyArray<unknown>) => ({ errors })
const telnyxOf = (code: unknown, pointer?: string) => telnyxErrors(telnyxError(code, pointer))
const telnyxCall = { call_control_id: "v3:AbC-1_x:2", call_leg_id: "leg-1", call_session_id: "session-1", is_alive: false }
const vonageError = { type: "https://developer.nexmo.com/api-errors#invalid", title: "Bad Request" }
const plivoError = (error: unknown) => ({ api_id: "a-1", error })
const vobizError = (message: string) => ({ status: "error", error: { code: "X", message }, requestId: "req_1" })
const session = {
  domainId: 3,
  subscriberId: 372,
  destination: number,
  direction: "outbound-api",
  token: "16a7294c989b11e7b3d32b9edb8660c7"
}

const invalid = { reason: "number_refused", cause: "invalid_number_format" }
const barred = { reason: "number_refused", cause: "facility_rejected" }
const misconfigured = { reason: "misconfigured" }
const unexplained = { reason: "unexplained" }
const dialectDoubts: ReadonlyArray<Given> = [
  [500, plivoError("not now")],
  [418, plivoError("not now")],
  [200, { ...plivoError("not now"), request_uuid: uuid }],
  [201, { request_uuid: 5 }],
  [201, { request_uuid: "../../Number/1" }],
  [201, { request_uuid: [uuid, "1123456789"] }],
  [400, { error: "no" }]
]

const carriers = {
  Cloudonix: {
    account: cloudonix.accountOf({ bearer_token: "XI1", domain_id: "acme.cloudonix.net" }),
    placed: session,
    id: session.token,
    proofless: [
      [200, { ...session, token: 5 }],
      [200, { ...session, token: "../../customers" }],
      [200, { ...session, error: "no route" }],
      [400, [{ message: "no" }]],
      [409, { message: "conflict" }],
      [500, { message: "error" }],
      [503, { message: "error" }]
    ],
    refused: [
      [400, { message: "Invalid cxml" }, unexplained],
      [400, { message: "Missing caller-id" }, { reason: "caller_id_refused" }],
      [400, { message: `destination ${number} is no number` }, invalid],
      [401, { message: "Unauthorized" }, { reason: "auth_refused" }],
      [402, { message: "Payment required" }, { reason: "no_credit" }],
      [403, { message: "Forbidden destination" }, { ...unexplained, detail: "HTTP 403: Forbidden destination" }],
      [404, { message: "Domain not found" }, misconfigured],
      [422, { message: "Unprocessable" }, { reason: "number_refused" }],
      [422, { message: "callerId is wrong" }, { reason: "caller_id_refused" }],
      [429, { message: "Too many requests" }, { reason: "rate_limited", retryAfterMillis: 10_000 }]
    ],
    proofs: [[() => ({ message: "no" })], [400, 401, 402, 403, 404, 422, 429]],
    up: [{ uuid: "0a1b", domain: "acme.cloudonix.net" }],
    mistaken: [401, 403, 404].map((status) => [status, { message: "no" }] as const),
    unreachable: [
      [200, [{ uuid: "0a1b", domain: "acme.cloudonix.net" }]],
      [500, { uuid: "0a1b", domain: "acme.cloudonix.net" }],
      [429, {}]
    ]
  },
  Plivo: {
    account: plivo.accountOf({ auth_id: "MAXXXXXXXXXXXXXXXXXX", auth_token: "token" }),
    placed: { request_uuid: uuid, message: "call fired" },
    id: `request:${uuid}`,
    proofless: dialectDoubts,
    refused: [
      [400, plivoError("15551234567 is not a valid destination number"), invalid],
      [400, plivoError({ to: `not a valid number: ${number}` }), invalid],
      [400, plivoError("answer_url is not valid: unable to connect to https://voice.example.com/15551234567"), misconfigured],
      [400, plivoError("invalid 'from' number"), { reason: "caller_id_refused" }],
      [400, plivoError("something else"), unexplained],
      [400, plivoError({ to: ["is not a valid phone number"] }), invalid],
      [422, plivoError("invalid number: to"), unexplained],
      [401, plivoError("authentication failed"), { reason: "auth_refused" }],
      [402, plivoError("insufficient credit"), { reason: "no_credit" }],
      [403, plivoError("your account is not verified"), unexplained],
      [403, plivoError("calls to this country are not permitted"), barred],
      [403, plivoError("concurrent call limit reached"), { reason: "rate_limited", retryAfterMillis: 5000 }],
      [404, plivoError("not found"), misconfigured],
      [405, plivoError("method not allowed"), misconfigured],
      [429, plivoError("too many requests"), { reason: "rate_limited", retryAfterMillis: 5000 }]
    ],
    proofs: [[() => plivoError("no")], [400, 401, 402, 403, 404, 405, 422, 429]],
    up: [{ objects: [] }],
    mistaken: [401, 403, 404].map((status) => [status, plivoError("no")] as const),
    unreachable: [[200, { objects: {} }]]
  },
  Telnyx: {
    account: telnyx.accountOf({ api_key: "", connection_id: "1684", application_id: "", webhook_public_key: "", from_numbers: [] }),
    placed: { data: telnyxCall },
    id: "v3:AbC-1_x:2",
    proofless: [
      [200, { data: {} }],
      [200, { data: { call_control_id: 17 } }],
      [200, { data: { call_control_id: "" } }],
      [200, { data: { call_control_id: "a b" } }],
      [200, { data: telnyxCall, ...telnyxOf("10016", "/to") }],
      [200, telnyxOf("10016", "/to")],
      [500, telnyxOf("10009")],
      [409, telnyxOf("10009")],
      [422, telnyxErrors()],
      [422, { errors: { code: "10016" } }],
      [422, telnyxOf(10016)],
      [422, telnyxErrors(telnyxError("10016", "/to"), "10015")],
      [422, { data: telnyxCall, ...telnyxOf("10016", "/to") }],
      [422, telnyxOf(number)],
      [422, telnyxOf("10007")],
      [400, telnyxOf("10008")],
      [422, telnyxOf("90018")]
    ],
    refused: [
      [401, telnyxOf("10009"), { reason: "auth_refused" }],
      [403, telnyxOf("10010"), unexplained],
      [403, telnyxOf("D1"), { reason: "rate_limited", retryAfterMillis: 5000 }],
      [404, telnyxOf("10005"), misconfigured],
      [403, telnyxOf("10009"), unexplained],
      [400, telnyxOf("99999"), unexplained],
      [422, telnyxErrors(telnyxError("10016", "/to"), telnyxError("99999")), unexplained],
      [422, telnyxOf("10002"), invalid],
      [422, telnyxOf("10016", "/to"), invalid],
      [422, telnyxOf("10016", "/from"), { reason: "caller_id_refused" }],
      [422, telnyxErrors(telnyxError("10016", "/to"), telnyxError("10016", "/from")), { reason: "caller_id_refused" }],
      [422, telnyxOf("10015"), unexplained],
      [422, telnyxOf("10015", "/to"), { reason: "number_refused" }],
      [400, telnyxOf("99999", "/to"), { reason: "number_refused" }],
      [400, telnyxOf("10004", "/connection_id"), misconfigured],
      [429, telnyxOf("10011"), { reason: "rate_limited" }],
      [429, telnyxOf("90103"), { reason: "rate_limited", retryAfterMillis: 5000 }]
    ],
    proofs: [[() => telnyxOf("10011")], [400, 403, 404, 422, 429]],
    up: [{ data: { record_type: "call_control_application" } }, { data: [] }],
    mistaken: [
      [401, telnyxOf("10009")],
      [403, telnyxOf("10010")],
      [404, telnyxOf("10005"), /connection_id/]
    ],
    unreachable: [[429, telnyxOf("10011")]]
  },
  Twilio: {
    account: twilio.accountOf({ account_sid: accountId, auth_token: "1".repeat(32) }),
    placed: { sid: `CA${"1".repeat(32)}` },
    id: `CA${"1".repeat(32)}`,
    proofless: [
      [500, twilioError(500, 20500)],
      [429, { message: "slow down" }],
      [400, twilioError(200, 21211)],
      [409, twilioError(409, 20409)],
      [200, twilioError(400, 21211)],
      [201, { sid: 5 }]
    ],
    refused: [
      [400, twilioError(400, 21215), barred],
      [400, twilioError(400, 21211), invalid],
      [400, twilioError(400, 21210), { reason: "caller_id_refused", detail: /21210/ }],
      [401, twilioError(401, 20003), { reason: "auth_refused" }],
      [429, twilioError(429, 20429), { reason: "rate_limited" }],
      [403, twilioError(403, 20005), { reason: "auth_refused" }],
      [400, twilioError(400, 10004), { reason: "rate_limited" }],
      [400, twilioError(400, 21205), misconfigured],
      [400, twilioError(400, 99999), unexplained]
    ],
    proofs: [[(status) => twilioError(status, 20001)], [400, 401, 403, 404, 429]],
    up: [{ sid: accountId, status: "active" }],
    mistaken: [
      [401, twilioError(401, 20003)],
      [200, { sid: accountId, status: "suspended" }, /not active/]
    ],
    unreachable: [[200, { status: "active" }]]
  },
  Vobiz: {
    account: vobiz.accountOf({ auth_id: "MA_7", auth_token: "token" }),
    placed: { request_uuid: uuid, message: "call fired" },
    id: uuid,
    proofless: dialectDoubts,
    refused: [
      [400, { api_id: "a", error: `destination is not valid: ${number}` }, invalid],
      [401, vobizError("wrong"), { reason: "auth_refused" }],
      [402, vobizError("Account balance too low"), { reason: "no_credit" }],
      [403, vobizError("KYC"), unexplained],
      [409, vobizError(""), unexplained],
      [422, vobizError("invalid 'from' number 15551234567"), { reason: "caller_id_refused" }],
      [429, vobizError("CPS limit"), { reason: "rate_limited", retryAfterMillis: 5000 }]
    ],
    proofs: [[() => vobizError("no")], [400, 401, 402, 403, 404, 409, 422, 429]],
    up: [{ calls: [] }],
    mistaken: [401, 403, 404].map((status) => [status, vobizError("no")] as const),
    unreachable: [[200, { calls: {} }]]
  },
  Vonage: {
    account: vonage.accountOf({
      application_id: uuid,
      private_key: "",
      api_key: "",
      api_secret: "",
      signature_secret: "",
      created_application_id: "",
      created_private_key: "",
      from_numbers: []
    }),
    placed: { uuid, status: "started" },
    id: uuid,
    proofless: [
      [500, { ...vonageError, title: "Internal Error" }],
      [401, { title: "Unauthorized" }],
      [429, { message: "slow down" }],
      [400, { ...vonageError, uuid }],
      [404, vonageError],
      [200, { ...vonageError, uuid }],
      [201, { uuid: 17 }],
      [201, { uuid: "a/b" }]
    ],
    refused: [false, true].flatMap((isOld) => {
      const rows: ReadonlyArray<readonly [Parameters<typeof errorOf>, object]> = [
        [[400, "invalid", "to", isOld], invalid],
        [[400, "invalid", "to[0].number", isOld], invalid],
        [[400, "invalid", "from", isOld], { reason: "caller_id_refused" }],
        [[401, "unauthorized", undefined, isOld], { reason: "auth_refused" }],
        [[402, "out-of-credit", undefined, isOld], { reason: "no_credit" }],
        [[403, "out-of-credit", undefined, isOld], { reason: "no_credit" }],
        [[403, "forbidden", undefined, isOld], unexplained],
        [[400, "invalid", "ncco", isOld], { reason: "misconfigured", detail: /^HTTP 400 invalid ncco: / }],
        [[400, "invalid", undefined, isOld], unexplained],
        [[400, "invalid", number, isOld], { reason: "unexplained", detail: /^HTTP 400 invalid \?: / }],
        [[429, "throttled", undefined, isOld], { reason: "rate_limited" }]
      ]
      return rows.map(([error, expected]): Refused => [error[0], errorOf(...error).body, expected])
    }),
    proofs: [
      [() => errorOf(0, "forbidden").body, () => errorOf(0, "forbidden", undefined, true).body],
      [400, 401, 402, 403, 429]
    ],
    up: [{ _embedded: { calls: [] } }],
    mistaken: [false, true].flatMap((isOld) => [
      [401, errorOf(401, "unauthorized", undefined, isOld).body, /^HTTP 401 unauthorized: Unauthorized/],
      [403, errorOf(403, "forbidden", undefined, isOld).body]
    ]),
    unreachable: [
      [200, { count: 0 }],
      [429, errorOf(429, "throttled").body]
    ]
  }
} satisfies Readonly<Record<string, Carrier>>

t.test("a carrier's words are shown without what may be a number or an address", async (t) => {
  const rows = [
    ["to: +14155550101 is not a valid phone number", "to: +# is not a valid phone number"],
    ["no route to +49 (30) 12 34-56", "no route to +#"],
    ["no route to 05 56 42 17 33.", "no route to #."],
    ["no route to \u0663\u0663\u0664\u0664", "no route to #"],
    ["see https://example.com/AC0/x?y=1 for rule 12", "see # for rule 12"]
  ] as const
  for (const [words, shown] of rows) t.equal(masked(words), shown)
})

const reply = (status: number, body?: unknown, retryAfterMillis?: number): Reply => ({ status, body, server: "", retryAfterMillis })
/** What proves nothing, whoever sends it. */
const anybodys = (placed: object): ReadonlyArray<Given> => [
  ...[200, 204, 302, 400, 401, 404, 429, 500].map((status) => [status] as const),
  ...[200, 401, 429, 503].map((status) => [status, "<html>"] as const),
  ...[302, 400, 500].map((status) => [status, placed] as const),
  [200, {}],
  [200, [placed]],
  [400, "text"]
]

for (const [name, carrier] of Object.entries<Carrier>(carriers)) {
  const { account, id, mistaken, placed, proofless, proofs, refused, unreachable, up } = carrier
  const { check, replies } = account
  const resultOf = (...given: Parameters<typeof reply>) => originated(reply(...given), replies)
  const standing = (...given: Parameters<typeof reply>) => standingOf(reply(...given), check, replies)

  t.test(`a call is placed through ${name} only if the reply names it`, async (t) => {
    for (const status of [200, 201, 202]) t.strictSame(resultOf(status, placed), { providerCallId: id })
    for (const [status, body] of [...anybodys(placed), ...proofless])
      t.match(resultOf(status, body), { _tag: "OriginateDoubtful", status }, `${status} ${JSON.stringify(body)}`)
  })

  t.test(`only an error of ${name} itself proves that there is no call`, async (t) => {
    for (const [status, body, expected] of refused) {
      const refusal = resultOf(status, body)
      t.match(refusal, { _tag: "OriginateRefused", ...expected }, `${status} ${JSON.stringify(body)}`)
      t.notMatch(JSON.stringify(refusal), /5551234567|AC0|MAXX|MA_7/, "without the number or the account")
      const isLimit = "reason" in refusal && refusal.reason === "rate_limited"
      if (isLimit)
        t.match(resultOf(status, body, 7000), { reason: "rate_limited", retryAfterMillis: 7000 }, "for as long as the carrier says")
    }
    const [errors, statuses] = proofs
    for (const errorOf of errors) {
      const provenBy = [...Array(500).keys()].map((n) => n + 100).filter((n) => replies.refusalIn(reply(n, errorOf(n))) !== undefined)
      t.strictSame(provenBy, statuses)
    }
    forAllOf({ numRuns: 500 }, fc.integer({ min: 100, max: 599 }), fc.oneof(fc.anything(), fc.jsonValue()), (status, body) => {
      const result = resultOf(status, body)
      const isProof = !("_tag" in result) || result._tag !== "OriginateDoubtful"
      return !(isProof && (name !== "Cloudonix" || status < 400 || status >= 500)) && standing(status, body)._tag === "Down"
    })
  })

  t.test(`the status of ${name}'s trunk follows from the reply to a request that changes nothing`, async (t) => {
    for (const body of up) t.strictSame(standing(200, body), { _tag: "Up" })
    for (const [status, body, detail = /./] of mistaken) t.match(standing(status, body), { _tag: "Down", reason: "auth", detail })
    for (const [status, body] of [...anybodys({}), [301] as const, [503] as const, ...unreachable]) {
      const isOwn = replies.errorIn(reply(status, body)) !== undefined && check.refusedWith.includes(status)
      if (!isOwn) t.match(standing(status, body), { _tag: "Down", reason: "unreachable" }, `${status} ${JSON.stringify(body)}`)
    }
  })
}

t.test("a request that was not sent is no call, and a reply that proves nothing says how long to wait", async (t) => {
  const { replies } = carriers.Telnyx.account
  t.match(originated(new NotSent({ withdrawn: true, detail: "" }), replies), { _tag: "OriginateRefused", reason: "permit_lapsed" })
  t.match(originated(new NotSent({ withdrawn: false, detail: "ECONNREFUSED" }), replies), {
    _tag: "OriginateRefused",
    reason: "unreachable"
  })
  t.match(originated(reply(503, undefined, 9000), replies), { _tag: "OriginateDoubtful", retryAfterMillis: 9000 })
})

t.test("a missing session is Cloudonix' own error", async (t) =>
  t.notOk(carriers.Cloudonix.account.replies.isMissing(reply(404)), "a 404 from somebody else")
)

t.test("Plivo's dialect accepts a request by naming it, in one of two forms", async (t) => {
  const request_uuid = uuid
  t.strictSame(acceptedBy({ request_uuid, message: "call fired" }), { requestUuid: uuid, isQueued: false })
  t.strictSame(acceptedBy({ request_uuid, message: "call queued" }), { requestUuid: uuid, isQueued: true })
  t.strictSame(acceptedBy({ request_uuid: [uuid] }), { requestUuid: uuid, isQueued: false })
  for (const given of [[], [uuid, uuid], "", 7]) t.equal(acceptedBy({ request_uuid: given }), undefined, JSON.stringify(given))
  for (const body of [undefined, null, "", {}, { request_uuid, error: "no" }]) t.equal(acceptedBy(body), undefined, JSON.stringify(body))
})
