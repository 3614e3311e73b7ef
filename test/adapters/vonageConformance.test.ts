/**
 * Vonage in the suite. Of the cases of its reference, these are among the suite's:
 * V2 (the story and its cost), V3 (ends), V4 (a machine), V6 (altered and old webhooks, repeats) and V12 (a second hang-up).
 */
import { generateKeyPairSync } from "node:crypto"
import vonage from "#adapters/vonage/vonage.ts"
import { placesCall, startVonageEmulator, transfersCall } from "#test/emulators/vonage/VonageEmulator.ts"
import { errorOf } from "#test/emulators/vonage/VonageErrors.ts"
import { conforms, hostedWorld, talkMillis } from "./conforms.ts"
import { OUR_NUMBER } from "./hosted.ts"
import { configOf } from "./vonageWorld.ts"

const strangersKey = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "pem", type: "pkcs8" }).toString()

conforms(vonage, async () => {
  const emulator = await startVonageEmulator({ callsPerSecond: 1000, numbers: [OUR_NUMBER], requestsPerSecond: 1000, talkMillis })
  return hostedWorld(emulator, {
    callerId: OUR_NUMBER,
    config: configOf(emulator),
    placesCall,
    refusals: {
      auth_refused: errorOf(401, "unauthorized", undefined, false),
      caller_id_refused: errorOf(400, "invalid", "from", false),
      no_credit: errorOf(403, "out-of-credit", undefined, false),
      number_refused: errorOf(400, "invalid", "to", false),
      rate_limited: errorOf(429, "throttled", undefined, false),
      unexplained: errorOf(403, "forbidden", undefined, false)
    },
    transfersCall,
    wrongConfig: configOf(emulator, {
      api_secret: "A-Strangers-01",
      private_key: strangersKey,
      signature_secret: "of-a-stranger-0000000000000000000001"
    })
  })
})
