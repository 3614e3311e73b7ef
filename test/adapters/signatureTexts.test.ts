/** A signature is a text. Another one that decodes to the same bytes is not what the carrier sent, and counts as a forgery. */
import { generateKeyPairSync, sign } from "node:crypto"
import t from "tap"
import * as plivo from "#adapters/plivo/signature.ts"
import { hmac } from "#adapters/shared/hmac.ts"
import { claimsIn } from "#adapters/shared/jwt.ts"
import * as telnyx from "#adapters/telnyx/signature.ts"
import * as twilio from "#adapters/twilio/signature.ts"
import * as vobiz from "#adapters/vobiz/signature.ts"
import type { CarrierRequest } from "#core/provider/Callback.ts"
import { twinText } from "#test/support/twinText.ts"

const [at, url, token] = [1_760_000_000_000, "https://voice.example.com/hook", "a-token"]
const requestWith = (headers: Readonly<Record<string, string>>): CarrierRequest => ({
  method: "GET",
  url,
  headers,
  at,
  body: Buffer.alloc(0)
})
const hashed = (algorithm: "sha1" | "sha256", text: string) => hmac(algorithm, token, text).toString("base64")

const { privateKey, publicKey } = generateKeyPairSync("ed25519")
const telnyxKey = publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("base64")
const claims = [{ typ: "JWT", alg: "HS256" }, { iat: 1 }].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".")

const signers: ReadonlyArray<readonly [name: string, signature: string, isAccepted: (signature: string) => boolean]> = [
  ["Twilio's", hashed("sha1", url), (signature) => twilio.proofOf(requestWith({ "x-twilio-signature": signature }), token) !== undefined],
  [
    "Plivo's",
    hashed("sha256", `${url}.n`),
    (signature) => plivo.proofOf(requestWith({ "x-plivo-signature-v3": signature, "x-plivo-signature-v3-nonce": "n" }), token) !== undefined
  ],
  [
    "Vobiz's",
    hashed("sha256", `${url}.n`),
    (signature) => vobiz.proofOf(requestWith({ "x-vobiz-signature-v3": signature, "x-vobiz-signature-v3-nonce": "n" }), token) !== undefined
  ],
  [
    "Telnyx's",
    sign(null, Buffer.from(`${at / 1000}|`), privateKey).toString("base64"),
    (signature) =>
      telnyx.proofOf(requestWith({ "telnyx-signature-ed25519": signature, "telnyx-timestamp": String(at / 1000) }), telnyxKey) !== undefined
  ],
  [
    "a JSON web token's",
    hmac("sha256", token, claims).toString("base64url"),
    (signature) => claimsIn(`${claims}.${signature}`, token) !== undefined
  ]
]
for (const [name, signature, isAccepted] of signers)
  t.test(`given ${name} signature, when its last character is changed, then it is refused although it decodes to the same`, async (t) => {
    t.ok(isAccepted(signature))
    t.notOk(isAccepted(twinText(signature)))
  })
