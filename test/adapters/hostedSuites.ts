/** What the conformance suite has to know of each hosted carrier: its refusals in its own words, and what a stranger's configuration has instead. */
import { generateKeyPairSync } from "node:crypto"
import type { World } from "#adapters/conformance/conformance.ts"
import { type CarrierName, carrierOf } from "#test/emulators/hostedCarriers.ts"
import { errorOf as dialectError } from "#test/emulators/shared/PlivoDialectEmulator.ts"
import { errorOf as telnyxError } from "#test/emulators/telnyx/TelnyxErrors.ts"
import { errorOf as vonageError } from "#test/emulators/vonage/VonageErrors.ts"
import { conforms, hostedWorld, talkMillis } from "./conforms.ts"
import { OUR_NUMBER } from "./hosted.ts"
import { adapters } from "./hostedScene.ts"

const publicKey = generateKeyPairSync("ed25519").publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("base64")
const privateKey = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "pem", type: "pkcs8" }).toString()

const cloudonixError = (status: number) => ({ status, body: { message: "No call to +15551234567" } })
const twilioError = (status: number, code: number) => ({
  status,
  body: { code, message: "No call to +15551234567", more_info: "", status }
})
const vobizError = (status: number, message: string) => ({
  status,
  body: { error: { code: "REFUSED", message }, requestId: "req_1", status: "error" }
})

const suites: Readonly<Record<CarrierName, Parameters<typeof hostedWorld>[1]>> = {
  cloudonix: {
    cannot: { machine: "Cloudonix detects no machines" },
    more: { domain_id: "Acme." },
    strangers: { bearer_token: "XI-of-a-stranger" },
    refusals: {
      auth_refused: cloudonixError(401),
      misconfigured: cloudonixError(404),
      no_credit: cloudonixError(402),
      rate_limited: cloudonixError(429),
      unexplained: cloudonixError(400)
    }
  },
  plivo: {
    strangers: { auth_id: `MA${"Y".repeat(18)}`, auth_token: "of-a-stranger" },
    refusals: {
      auth_refused: dialectError(401, "authentication failed"),
      caller_id_refused: dialectError(400, "invalid 'from' number"),
      no_credit: dialectError(402, "insufficient credit"),
      number_refused: dialectError(400, "invalid 'to' number"),
      rate_limited: dialectError(429, "request rate limit exceeded"),
      unexplained: dialectError(400, "invalid number: to")
    }
  },
  telnyx: {
    strangers: { api_key: "KEY-of-a-stranger", webhook_public_key: publicKey },
    refusals: {
      auth_refused: telnyxError(401, "10009"),
      caller_id_refused: telnyxError(422, "10016", "/from"),
      misconfigured: telnyxError(404, "10005"),
      number_refused: telnyxError(422, "10016", "/to"),
      rate_limited: telnyxError(429, "90103"),
      unexplained: telnyxError(400, "99999")
    }
  },
  twilio: {
    more: { amd_enabled: true },
    strangers: { account_sid: `AC${"1".repeat(32)}`, auth_token: "0".repeat(32) },
    refusals: {
      auth_refused: twilioError(401, 20003),
      caller_id_refused: twilioError(400, 21210),
      number_refused: twilioError(400, 21211),
      rate_limited: twilioError(429, 20429),
      unexplained: twilioError(400, 99999)
    }
  },
  vobiz: {
    strangers: { auth_id: "MA_STRANGER", auth_token: "of-a-stranger" },
    refusals: {
      auth_refused: vobizError(401, "wrong"),
      caller_id_refused: vobizError(422, "invalid 'from' number"),
      misconfigured: vobizError(404, "no such account"),
      no_credit: vobizError(402, "Account balance too low"),
      number_refused: vobizError(400, "invalid 'to' number"),
      rate_limited: vobizError(429, "CPS limit"),
      unexplained: vobizError(403, "KYC")
    }
  },
  vonage: {
    strangers: { api_secret: "A-Strangers-01", private_key: privateKey, signature_secret: "of-a-stranger-0000000000000000000001" },
    refusals: {
      auth_refused: vonageError(401, "unauthorized"),
      caller_id_refused: vonageError(400, "invalid", "from"),
      no_credit: vonageError(403, "out-of-credit"),
      number_refused: vonageError(400, "invalid", "to"),
      rate_limited: vonageError(429, "throttled"),
      unexplained: vonageError(403, "forbidden")
    }
  }
}

export const openSuiteWorld = async (name: CarrierName): Promise<World> =>
  hostedWorld(await carrierOf(name).start({ numbers: [OUR_NUMBER], talkMillis }), suites[name])

export const conformsHosted = (name: CarrierName): void => conforms(adapters[name], () => openSuiteWorld(name))
