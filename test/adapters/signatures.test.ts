/**
 * What each carrier signs: the vectors of the carriers' own validators, and for every part of a request whether a change is detected. A part that a
 * scheme does not cover is asserted as such, because our own token must protect it.
 */
import fc from "fast-check"
import t from "tap"
import * as cloudonix from "#adapters/cloudonix/staticKey.ts"
import * as plivo from "#adapters/plivo/signature.ts"
import type { Proof } from "#adapters/shared/CarrierRequest.ts"
import type { CarrierRequest } from "#core/provider/Callback.ts"
import { hmac } from "#adapters/shared/hmac.ts"
import * as telnyx from "#adapters/telnyx/signature.ts"
import * as twilio from "#adapters/twilio/signature.ts"
import * as vobiz from "#adapters/vobiz/signature.ts"
import * as vonage from "#adapters/vonage/signature.ts"
import { forAllOf } from "#test/support/forAll.ts"
import { twinText } from "#test/support/twinText.ts"

const signedAt = 1_760_000_000_000
const request = (given: Partial<Omit<CarrierRequest, "body">> & { readonly body?: string }): CarrierRequest => ({
  method: "POST",
  url: "https://voice.example.com/hook",
  headers: {},
  at: signedAt,
  ...given,
  body: Buffer.from(given.body ?? "")
})
const form = (fields: Readonly<Record<string, string>>) => ({ body: new URLSearchParams(fields).toString() })
const formType = { "content-type": "application/x-www-form-urlencoded; charset=UTF-8" }

// --- Twilio

const twilioToken = "12345678901234567890123456789012"
const twilioStatus = {
  AccountSid: "AC00000000000000000000000000000001",
  ApiVersion: "2010-04-01",
  CallDuration: "12",
  CallSid: "CA00000000000000000000000000000001",
  CallStatus: "completed",
  Direction: "outbound-api",
  From: "+15005550006",
  SequenceNumber: "3",
  To: "+14155550100"
}
const twilioRequest = (signature: string, given: Parameters<typeof request>[0] = {}) =>
  request({
    url: "https://voice.example.com/api/v1/telephony/twilio/status/42?wf=7&org=3",
    ...form(twilioStatus),
    ...given,
    headers: { ...formType, ...given.headers, "x-twilio-signature": signature }
  })
const twilioSignature = "SibfxUNfCy3FLp+no0Pl34Xzi3U="

t.test("Twilio signs the address and the fields", async (t) => {
  const proof = (one: CarrierRequest, token = twilioToken) => twilio.proofOf(one, token)
  t.strictSame(proof(twilioRequest(twilioSignature)), { coversBody: true, nonce: undefined })
  t.notOk(proof(twilioRequest(twinText(twilioSignature))), "another text that decodes to the same")
  t.ok(proof(twilioRequest("u7vA2sQCFv/LSLr37QbC5R/iOuw=")), "signed with the default port of the scheme")
  const upgrade = { method: "GET", url: "wss://voice.example.com/ws/media/tok", body: "" } as const
  t.ok(proof(twilioRequest("5h0U4jljxCI8Jeh8e/MS8pXEltY=", upgrade)))
  const overHttps = hmac("sha1", twilioToken, "https://voice.example.com/ws/media/tok").toString("base64")
  t.ok(proof(twilioRequest(overHttps, upgrade)), "an upgrade that is signed over https:")
  const json = {
    url: "https://voice.example.com/hook?bodySHA256=6fa6c27e4f3c75c7d273ce8eba958bf99df470a193f92ee83e7f5329784dfcb8",
    body: '{"CallSid":"CA1","Status":"x"}',
    headers: { "content-type": "application/json" }
  }
  t.ok(proof(twilioRequest("3kZKMJ+8cAD5ZwVP38aioleagHw=", json)))
  t.notOk(proof(twilioRequest("3kZKMJ+8cAD5ZwVP38aioleagHw=", { ...json, body: '{"CallSid":"CA2","Status":"x"}' })), "another JSON body")
  const uncovered = hmac("sha1", twilioToken, "https://voice.example.com/hook").toString("base64")
  const bare = { url: "https://voice.example.com/hook", headers: { "content-type": "application/json" } }
  t.notOk(proof(twilioRequest(uncovered, { ...bare, body: "{}" })), "a body that no hash covers")
  t.notOk(proof(twilioRequest(twilioSignature, { url: "https://voice.example.com/api/v1/telephony/twilio/status/43?wf=7&org=3" })))
  t.notOk(proof(twilioRequest(twilioSignature, form({ ...twilioStatus, CallStatus: "busy" }))))
  t.notOk(proof(twilioRequest(twilioSignature, form({ ...twilioStatus, Extra: "1" }))))
  const repeated = "%F0%9F%93%9E=5&%EF%BF%AE=4&b=3&b=1&b=3&a=2"
  const address = "https://voice.example.com/hook"
  const inOrder = hmac("sha1", twilioToken, `${address}a2b1b3\u{ffee}4\u{1f4de}5`).toString("base64")
  t.ok(
    proof(twilioRequest(inOrder, { url: address, body: repeated })),
    "fields in the order of their bytes, a repeated one once for each value"
  )
  t.notOk(proof(twilioRequest("")), "no signature")
  t.notOk(proof(twilioRequest(twilioSignature), "12345678901234567890123456789013"))
  const keyless = hmac("sha1", "", "https://voice.example.com/hook").toString("base64")
  t.notOk(proof(twilioRequest(keyless, { url: "https://voice.example.com/hook", body: "" }), ""), "an empty token proves nothing")
  t.ok(proof(twilioRequest(twilioSignature, { at: signedAt + 86_400_000 })), "the signature does not detect a replay")
})

t.test("Twilio's fields are signed by name, a repeated value once, an empty one by its name", async (t) => {
  const otherOrder = hmac("sha1", twilioToken, "https://voice.example.com/hookAb2Foozaaz1z2").toString("base64")
  const ordered = hmac("sha1", twilioToken, "https://voice.example.com/hookAb2Fooz1z2zaa").toString("base64")
  const given = { url: "https://voice.example.com/hook", body: "z=2&Foo=&z=1&za=a&z=2&Ab=2" }
  t.ok(twilio.proofOf(twilioRequest(ordered, given), twilioToken))
  t.notOk(twilio.proofOf(twilioRequest(otherOrder, given), twilioToken), "in another order")
})

// --- Telnyx

const telnyxKey = "A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg="
const telnyxSignature = "fGqVrnwYIe+IH0PxZCfwcPJFliMu7Pn8kLUC69ip/8A+dqZDmdYu4SPBVsO5deK4AP64AhMYlOs0aZ/NR6NFAA=="
const telnyxRequest = (given: Parameters<typeof request>[0] = {}) =>
  request({
    body: '{"data":{"event_type":"call.answered","id":"e1"}}',
    ...given,
    headers: {
      "telnyx-timestamp": "1760000000",
      "telnyx-signature-ed25519": telnyxSignature,
      ...given.headers
    }
  })

t.test("Telnyx signs the time and the body", async (t) => {
  const proof = (one: CarrierRequest) => telnyx.proofOf(one, telnyxKey)
  t.strictSame(proof(telnyxRequest()), { coversBody: true, nonce: undefined })
  t.ok(proof(telnyxRequest({ at: signedAt + 300_000 })))
  t.notOk(proof(telnyxRequest({ at: signedAt + 301_000 })), "301 s old")
  t.notOk(proof(telnyxRequest({ at: signedAt - 301_000 })), "from the future")
  t.notOk(proof(telnyxRequest({ body: '{"data":{"event_type":"call.answered","id":"e2"}}' })))
  t.notOk(proof(telnyxRequest({ headers: { "telnyx-timestamp": "1760000001" } })))
  t.notOk(proof(telnyxRequest({ headers: { "telnyx-timestamp": undefined } })))
  for (const other of ["AAAA", twinText(telnyxSignature)])
    t.notOk(proof(telnyxRequest({ headers: { "telnyx-signature-ed25519": other } })), other)
  t.notOk(telnyx.proofOf(telnyxRequest(), ""), "no key in the configuration")
  t.ok(proof(telnyxRequest({ url: "https://voice.example.com/elsewhere" })), "the signature does not detect another address")
})

t.test("Telnyx' key is read in every form in which it may be pasted", async (t) => {
  const pem = `-----BEGIN PUBLIC KEY-----\n${telnyxKey}\r\n-----END PUBLIC KEY-----\n`
  const der = `MCowBQYDK2VwAyEA${telnyxKey}`
  for (const pasted of [` ${telnyxKey}\n`, pem, der]) t.ok(telnyx.proofOf(telnyxRequest(), pasted), JSON.stringify(pasted))
  for (const wrong of ["", "A6EHv", "KEY0189", telnyxKey + telnyxKey]) t.notOk(telnyx.proofOf(telnyxRequest(), wrong), wrong)
})

// --- Plivo

const plivoToken = "plivo-auth-token-0001"
const plivoHangup = {
  CallStatus: "completed",
  CallUUID: "abc-1",
  Direction: "outbound",
  Event: "Hangup",
  From: "15005550006",
  HangupCauseCode: "4000",
  To: "14155550100"
}
const plivoRequest = (signature: string, given: Parameters<typeof request>[0] = {}) =>
  request({
    url: "https://voice.example.com/plivo/hangup/42",
    ...form(plivoHangup),
    ...given,
    headers: {
      ...formType,
      "x-plivo-signature-v3": signature,
      "x-plivo-signature-v3-nonce": "12345678901234567890",
      ...given.headers
    }
  })
const plivoSignature = "QzG7tYsX/Sm6g2dSEo+VJ5N702Sky205ISmpHZKmxAw="

t.test("Plivo signs the address, the fields and a nonce", async (t) => {
  const proof = (one: CarrierRequest, token = plivoToken) => plivo.proofOf(one, token)
  const withQuery = "https://voice.example.com/plivo/hangup/42?wf=7&org=3"
  t.strictSame(proof(plivoRequest(plivoSignature)), { coversBody: true, nonce: "12345678901234567890" })
  t.ok(proof(plivoRequest("YKwB6mLtqkFwhgWux3B0hS6XO4ukp2hhjSvwQDhz9OA=", { url: withQuery })))
  t.ok(proof(plivoRequest("Xwjm+M9TioM3SCp/wrG2zzoTd6lSfYYqjf8sLsi+srw=", { body: "" })))
  t.ok(proof(plivoRequest("tRfx/Il0JMNCP1JONd8F1xlz2AEGUGuTUj8MprRhMyI=", { method: "GET", url: withQuery, body: "" })))
  const upgrade = { method: "GET", url: "wss://voice.example.com/ws/media/tok", body: "" } as const
  t.ok(proof(plivoRequest("P3Mhy5HMbSGy80RJKNvKnjzk+Zu9+zIJjKaG961yK0M=", upgrade)))
  t.ok(proof(plivoRequest(`AAAA, ${plivoSignature}`)), "one of several active tokens")
  t.ok(proof(plivoRequest("AAAA", { headers: { "x-plivo-signature-ma-v3": plivoSignature } })), "of the main account")
  t.notOk(proof(plivoRequest(twinText(plivoSignature))), "another text that decodes to the same")
  t.notOk(proof(plivoRequest(plivoSignature, form({ ...plivoHangup, HangupCauseCode: "3010" }))))
  t.notOk(proof(plivoRequest(plivoSignature, form({ ...plivoHangup, Extra: "1" }))))
  t.notOk(proof(plivoRequest(plivoSignature, { url: "https://voice.example.com/plivo/hangup/43" })))
  t.notOk(proof(plivoRequest(plivoSignature, { url: withQuery })))
  t.notOk(proof(plivoRequest(plivoSignature, { headers: { "x-plivo-signature-v3-nonce": "12345678901234567891" } })))
  t.notOk(proof(plivoRequest(plivoSignature, { headers: { "x-plivo-signature-v3": undefined } })))
  t.notOk(proof(plivoRequest(plivoSignature, { headers: { "content-type": "application/json" } })), "a body that is not covered")
  t.notOk(proof(plivoRequest(plivoSignature), "plivo-auth-token-0002"))
  t.notOk(proof(plivoRequest(hmac("sha256", "", "x").toString("base64")), ""))
})

// --- Vobiz

const vobizToken = "vobiz-auth-token-0001"
const vobizRequest = (version: "v2" | "v3", signature: string, given: Parameters<typeof request>[0] = {}) =>
  request({
    url: "https://voice.example.com/vobiz/hangup/42?x=1",
    ...given,
    headers: {
      [`x-vobiz-signature-${version}`]: signature,
      [`x-vobiz-signature-${version}-nonce`]: "98765432109876543210",
      ...given.headers
    }
  })
const vobizSignature = "3PedZMG1e6N1X1GiOTAm9rj8Rxrn60YNR2lBrlRdQ8A="

t.test("Vobiz signs the address without its query, and a nonce", async (t) => {
  const proof = (one: CarrierRequest, token = vobizToken) => vobiz.proofOf(one, token)
  t.strictSame(proof(vobizRequest("v3", vobizSignature)), { coversBody: false, nonce: "98765432109876543210" })
  t.ok(proof(vobizRequest("v2", "zUg54aua8FtLMd0c6G/VST/yUIxMvfAtj5Dw/OjabkE=")))
  t.ok(proof(vobizRequest("v3", "AAAA", { headers: { "x-vobiz-signature-ma-v3": vobizSignature } })), "of the parent account")
  t.notOk(proof(vobizRequest("v3", twinText(vobizSignature))), "another text that decodes to the same")
  t.notOk(proof(vobizRequest("v2", vobizSignature)), "one version's signature under the other's name")
  t.notOk(proof(vobizRequest("v3", vobizSignature, { url: "https://voice.example.com/vobiz/hangup/43?x=1" })))
  t.notOk(proof(vobizRequest("v3", vobizSignature, { headers: { "x-vobiz-signature-v3-nonce": "1" } })))
  t.notOk(proof(vobizRequest("v3", vobizSignature), "vobiz-auth-token-0002"))
  t.notOk(proof(request({ url: "https://voice.example.com/vobiz/hangup/42" })), "none")
  t.ok(proof(vobizRequest("v3", vobizSignature, { url: "https://voice.example.com/vobiz/hangup/42?x=2" })), "another query is not detected")
  t.ok(proof(vobizRequest("v3", vobizSignature, { body: "HangupCause=USER_BUSY" })), "another body is not detected")
})

// --- Vonage

const vonageKeys = { apiKey: "a1b2c3d4", signatureSecret: "vonage-signature-secret-0000000000000001" }
const vonageBody =
  '{"from":"15005550006","to":"14155550100","uuid":"aaaaaaaa-bbbb-cccc-dddd-0123456789ab","conversation_uuid":"CON-aaaaaaaa-bbbb-cccc-dddd-0123456789ab","status":"busy","direction":"outbound","timestamp":"2025-10-09T08:53:20.000Z"}'
const vonageToken =
  "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpYXQiOjE3NjAwMDAwMDAsImp0aSI6ImM1YmE4ZjI0LTFhMTQtNGMxMC1iZmRmLTNmYmU4Y2U1MTFiNSIsImlzcyI6IlZvbmFnZSIsInBheWxvYWRfaGFzaCI6IjVmMzhlNjg3YmI1NmZjOGE0MzVhOGMzOTg0YjdiM2UwMzI4Nzk4ZWJjMTQ5MjdiNjA0MWMzNjFhZWIzZGE5ZWYiLCJhcGlfa2V5IjoiYTFiMmMzZDQiLCJhcHBsaWNhdGlvbl9pZCI6ImFhYWFhYWFhLWJiYmItY2NjYy1kZGRkLTAxMjM0NTY3ODlhYiJ9.BDiQsg9mj4vIQQEP15QM7E34Mjc-ovIQiRqyP8RekRs"
const vonageRequest = (token = vonageToken, given: Parameters<typeof request>[0] = {}) =>
  request({ body: vonageBody, headers: { authorization: `Bearer ${token}` }, ...given })
const jwt = (claims: object, header: object = { alg: "HS256", typ: "JWT" }, secret = vonageKeys.signatureSecret) => {
  const signed = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".")
  return `${signed}.${hmac("sha256", secret, signed).toString("base64url")}`
}
const vonageClaims = {
  iat: 1_760_000_000,
  jti: "c5ba8f24-1a14-4c10-bfdf-3fbe8ce511b5",
  iss: "Vonage",
  payload_hash: "5f38e687bb56fc8a435a8c3984b7b3e0328798ebc14927b6041c361aeb3da9ef",
  api_key: "a1b2c3d4"
}

t.test("Vonage signs the body, the time and a nonce", async (t) => {
  const proof = (one: CarrierRequest, keys = vonageKeys) => vonage.proofOf(one, keys)
  t.strictSame(proof(vonageRequest()), { coversBody: true, nonce: "c5ba8f24-1a14-4c10-bfdf-3fbe8ce511b5" })
  t.ok(proof(vonageRequest(jwt(vonageClaims))), "the vector is what HS256 gives for it")
  t.notOk(proof(vonageRequest(twinText(vonageToken))), "another text that decodes to the same")
  t.notOk(proof(vonageRequest(), { ...vonageKeys, signatureSecret: "another" }))
  t.notOk(proof(vonageRequest(vonageToken, { body: vonageBody.replace("busy", "completed") })))
  t.notOk(proof(vonageRequest(vonageToken, { at: signedAt + 600_000 })), "10 min old")
  t.notOk(proof(vonageRequest(jwt(vonageClaims, { alg: "none" }))), "its algorithm is `none`")
  t.notOk(proof(vonageRequest(jwt(vonageClaims, { alg: "RS256" }))))
  t.notOk(proof(vonageRequest(jwt({ ...vonageClaims, iss: "Other" }))))
  t.notOk(proof(vonageRequest(jwt({ ...vonageClaims, api_key: "other" }))), "another account")
  t.notOk(proof(vonageRequest(jwt({ ...vonageClaims, iat: "1760000000" }))))
  t.notOk(proof(vonageRequest(jwt({ ...vonageClaims, jti: undefined }))), "no id to detect a replay by")
  t.notOk(proof(vonageRequest("a.b")))
  t.notOk(proof(request({ body: vonageBody })), "unsigned")
  t.notOk(proof(vonageRequest(jwt(vonageClaims, undefined, "")), { ...vonageKeys, signatureSecret: "" }))
  t.ok(proof(vonageRequest(vonageToken, { url: "https://voice.example.com/elsewhere" })), "another address is not detected")
})

t.test("V7: for a GET, Vonage signs the parameters in their order", async (t) => {
  const payload_hash = "fee9cbfae2c348d08aad5bb90adda64d89a778729623d623bc40b492d825c560"
  const asked = (query: string) =>
    vonageRequest(jwt({ ...vonageClaims, payload_hash }), { method: "GET", body: "", url: `https://voice.example.com/answer?${query}` })
  t.ok(vonage.proofOf(asked("to=14155550100&from=15005550006&conversation_uuid=CON-1&uuid=u-1"), vonageKeys))
  t.notOk(vonage.proofOf(asked("from=15005550006&to=14155550100&conversation_uuid=CON-1&uuid=u-1"), vonageKeys))
  t.notOk(vonage.proofOf(asked("to=14155550101&from=15005550006&conversation_uuid=CON-1&uuid=u-1"), vonageKeys))
})

// --- Cloudonix

t.test("Cloudonix sends a key if the domain has one, and proves nothing else", async (t) => {
  const key = "cx-static-key-1"
  t.ok(cloudonix.proofOf(request({ headers: { "x-cx-apikey": key } }), key))
  t.ok(cloudonix.proofOf(request({ headers: { authorization: `Bearer ${key}` } }), key))
  t.notOk(cloudonix.proofOf(request({ headers: { "x-cx-apikey": "cx-static-key-2" } }), key))
  t.notOk(cloudonix.proofOf(request({}), key))
  t.ok(cloudonix.proofOf(request({}), ""), "without a key there is only our own token")
})

// --- any input

const schemes: ReadonlyArray<readonly [string, (one: CarrierRequest) => Proof | undefined]> = [
  ["twilio", (one) => twilio.proofOf(one, twilioToken)],
  ["telnyx", (one) => telnyx.proofOf(one, telnyxKey)],
  ["plivo", (one) => plivo.proofOf(one, plivoToken)],
  ["vobiz", (one) => vobiz.proofOf(one, vobizToken)],
  ["vonage", (one) => vonage.proofOf(one, vonageKeys)],
  ["cloudonix", (one) => cloudonix.proofOf(one, "cx-static-key-1")]
]
const headerNames = (
  "authorization content-type telnyx-signature-ed25519 telnyx-timestamp x-cx-apikey " +
  "x-plivo-signature-v3 x-plivo-signature-v3-nonce x-twilio-signature x-vobiz-signature-v2 x-vobiz-signature-v2-nonce"
).split(" ")
const anyRequest: fc.Arbitrary<CarrierRequest> = fc.record({
  method: fc.constantFrom("GET" as const, "POST" as const),
  url: fc.oneof(fc.webUrl({ withQueryParameters: true, withFragments: true }), fc.string()),
  headers: fc.dictionary(fc.constantFrom(...headerNames), fc.oneof(fc.string(), fc.base64String(), fc.constant("Bearer a.b.c"))),
  body: fc.uint8Array(),
  at: fc.integer({ min: 0 })
})

t.test("an unsigned request is refused, whatever it contains, and never throws", async (t) => {
  for (const [name, proofOf] of schemes) {
    forAllOf({ seed: 7, numRuns: 2000 }, anyRequest, (one) => proofOf(one) === undefined)
    t.pass(name)
  }
})
