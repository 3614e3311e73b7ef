/**
 * The carriers' own packages as witnesses: they accept what our emulators sign, we accept what they sign, their documents say the same as ours, and
 * their types know every parameter that we send. See the decision in core/DECISIONS.md on why the engine itself runs without them.
 */
import { generateKeyPairSync } from "node:crypto"
import fc from "fast-check"
import t from "tap"
import { TelnyxWebhook } from "telnyx/lib/webhooks"
import type { CallListInstanceCreateOptions } from "twilio/lib/rest/api/v2010/account/call.js"
import VoiceResponse from "twilio/lib/twiml/VoiceResponse.js"
import { getExpectedBodyHash, getExpectedTwilioSignature, validateRequest, validateRequestWithBody } from "twilio/lib/webhooks/webhooks.js"
import { hangUp, streamTo } from "#adapters/shared/twiml.ts"
import { transferDocument } from "#adapters/shared/twimlTransfer.ts"
import * as telnyx from "#adapters/telnyx/signature.ts"
import * as twilio from "#adapters/twilio/signature.ts"
import { formOf } from "#adapters/twilio/TwilioTrunk.ts"
import { CallId } from "#core/Id.ts"
import type { CarrierRequest } from "#core/provider/Callback.ts"
import { signatureOf } from "#test/emulators/telnyx/TelnyxCall.ts"
import { signed } from "#test/emulators/twilio/signed.ts"
import { verbsOf } from "#test/emulators/twilio/twiml.ts"
import { forAll } from "#test/support/forAll.ts"
import { nowMillis } from "#test/support/until.ts"

const token = "12345678901234567890123456789012"
const requestOf = (url: string, headers: CarrierRequest["headers"], body: string): CarrierRequest => ({
  at: nowMillis(),
  body: Buffer.from(body),
  headers,
  method: "POST",
  url
})

/** Text without surrogates: lone ones are not text, and the package does not sort pairs in the order of their bytes. */
const value = fc.string({ unit: fc.integer({ min: 0, max: 0xd7ff }).map((code) => String.fromCodePoint(code)) })
const name = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_.]{0,15}$/)
const part = fc.stringMatching(/^[A-Za-z0-9~!$'()*,;:@%._-]{0,12}$/).map((text) => text.replaceAll("%", "%25"))
const url = fc
  .tuple(fc.constantFrom("", ":443", ":8443"), fc.array(part, { maxLength: 4 }), fc.array(fc.tuple(name, part), { maxLength: 3 }))
  .map(([port, path, query]) => {
    const pairs = query.map(([key, text]) => `${key}=${text}`)
    return `https://voice.example.com${port}/${path.join("/")}${pairs.length === 0 ? "" : `?${pairs.join("&")}`}`
  })
const fields = fc.dictionary(name, value, { noNullPrototype: true })

t.test("given callbacks of the emulated Twilio, then Twilio's own validator accepts them, and nothing else", async () => {
  forAll(url, fields, name, (url, fields, other) => {
    const { headers } = signed(`${url}#rc=5`, fields, token)
    const isValid = (more: object) => validateRequest(token, headers["x-twilio-signature"], url, { ...fields, ...more })
    return isValid({}) && !isValid({ [`${other}X`]: "1" })
  })
})

t.test("given requests that Twilio's package signs, then the adapter accepts them as they are, and not when they are altered", async () => {
  const several = fc.dictionary(name, fc.array(value, { minLength: 1, maxLength: 3 }), { noNullPrototype: true })
  forAll(url, several, (url, fields) => {
    const form = new URLSearchParams(Object.entries(fields).flatMap(([key, values]) => values.map((one): [string, string] => [key, one])))
    const signature = getExpectedTwilioSignature(token, url, fields)
    const headers = { "content-type": "application/x-www-form-urlencoded", "x-twilio-signature": signature }
    const proves = (url: string, body: string) => twilio.proofOf(requestOf(url, headers, body), token) !== undefined
    const genuine = form.toString()
    return proves(url, genuine) && !proves(`${url}x`, genuine) && !proves(url, `${genuine}&x=1`)
  })
  forAll(url, value, (url, body) => {
    const address = `${url}${url.includes("?") ? "&" : "?"}bodySHA256=${getExpectedBodyHash(body)}`
    const signature = getExpectedTwilioSignature(token, address, {})
    const headers = { "content-type": "application/json", "x-twilio-signature": signature }
    const proves = (body: string) => twilio.proofOf(requestOf(address, headers, body), token) !== undefined
    return validateRequestWithBody(token, signature, address, body) && proves(body) && !proves(`${body} `)
  })
})

t.test("given webhooks of the emulated Telnyx, then Telnyx' own verifier and the adapter agree on them, genuine and altered", async () => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519")
  const key = publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("base64")
  const isVerified = async (
    body: string,
    headers: Readonly<Record<string, string>>
  ): Promise<readonly [theirs: boolean, ours: boolean]> => {
    const theirs = new TelnyxWebhook(key).verify(body, { ...headers }).then(
      () => true,
      () => false
    )
    return [await theirs, telnyx.proofOf(requestOf("https://voice.example.com/", headers, body), key) !== undefined]
  }
  const body = fc.oneof(
    value,
    fc.jsonValue().map((json) => JSON.stringify(json))
  )
  await fc.assert(
    fc.asyncProperty(body, async (body) => {
      const headers = signatureOf(body, privateKey)
      const late = { ...headers, "telnyx-timestamp": String(Number(headers["telnyx-timestamp"]) + 1) }
      const verdicts = [await isVerified(body, headers), await isVerified(`${body} `, headers), await isVerified(body, late)]
      return JSON.stringify(verdicts) === "[[true,true],[false,false],[false,false]]"
    })
  )
})

t.test("given any address and number, then Twilio's builder makes the same documents as we do", async () => {
  const isSame = (ours: string, theirs: VoiceResponse) => {
    const [one, other] = [verbsOf(ours), verbsOf(theirs.toString())]
    return one !== undefined && JSON.stringify(sorted(one)) === JSON.stringify(sorted(other))
  }
  const text = fc.string({ unit: fc.integer({ min: 0x20, max: 0xd7ff }).map((code) => String.fromCodePoint(code)), minLength: 1 })
  const number = fc.stringMatching(/^\+[1-9][0-9]{6,14}$/)
  forAll(text, (mediaUrl) => {
    const theirs = new VoiceResponse()
    theirs.connect().stream({ url: mediaUrl })
    return isSame(streamTo(mediaUrl), theirs)
  })
  forAll(text, text, number, number, fc.integer({ min: 1, max: 600 }), (address, told, to, from, timeoutSeconds) => {
    const request = { from, kind: "attended", leave: () => true, timeoutSeconds, to, transfer: 1 } as const
    const theirs = new VoiceResponse()
    const dial = theirs.dial({ action: address, callerId: from, method: "POST", timeout: timeoutSeconds })
    dial.number({ statusCallback: told, statusCallbackEvent: ["answered"], statusCallbackMethod: "POST" }, to)
    return isSame(transferDocument(request, address, told), theirs)
  })
  const [silence, end] = [new VoiceResponse(), new VoiceResponse()]
  silence.pause({ length: 60 })
  end.hangup()
  t.ok(isSame(streamTo(undefined), silence))
  t.ok(isSame(hangUp, end))
})

/** Sorts the attributes by name. */
const sorted = (verbs: ReturnType<typeof verbsOf>): unknown =>
  verbs?.map(({ attributes, children, ...verb }) => ({
    ...verb,
    attributes: Object.entries(attributes).sort(),
    children: sorted(children)
  }))

const request = {
  callId: CallId.make("01890000-0000-7000-8000-0000000000aa"),
  detect: "greetingEnd",
  from: "+15550009000",
  leave: () => true,
  maxDurationSeconds: 600,
  ringTimeoutSeconds: 30,
  to: "+14155550101"
} as const
const addresses = { callbackUrl: () => "https://voice.example.com/cb", mediaUrl: "wss://voice.example.com/media" }

t.test("given a request for a call, then Twilio's types know every parameter of it", async (t) => {
  // Any other name does not compile.
  const known: ReadonlyArray<Capitalize<keyof CallListInstanceCreateOptions>> = [
    "AsyncAmd",
    "AsyncAmdStatusCallback",
    "AsyncAmdStatusCallbackMethod",
    "From",
    "MachineDetection",
    "StatusCallback",
    "StatusCallbackEvent",
    "StatusCallbackMethod",
    "TimeLimit",
    "Timeout",
    "To",
    "Twiml"
  ]
  t.strictSame([...new Set(formOf(request, addresses, true).keys())].sort(), known)
})
