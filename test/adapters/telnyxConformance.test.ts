/**
 * Telnyx in the suite. Of the cases of its reference, these are among the suite's:
 * X2 and X3 (ends), X4 (a machine), X6 (repeats and disorder), X7 (altered and old webhooks), X11 (a second hang-up) and X14 (the cost).
 */
import { generateKeyPairSync } from "node:crypto"
import telnyx from "#adapters/telnyx/telnyx.ts"
import { isDial, isTransfer, startTelnyxEmulator } from "#test/emulators/telnyx/TelnyxEmulator.ts"
import { errorOf } from "#test/emulators/telnyx/TelnyxErrors.ts"
import { conforms, hostedWorld, talkMillis } from "./conforms.ts"
import { OUR_NUMBER } from "./hosted.ts"
import { configOf } from "./telnyxWorld.ts"

const strangersKey = generateKeyPairSync("ed25519").publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("base64")

conforms(telnyx, async () => {
  const emulator = await startTelnyxEmulator({ numbers: [OUR_NUMBER], talkMillis })
  return hostedWorld(emulator, {
    callerId: OUR_NUMBER,
    config: configOf(emulator),
    placesCall: isDial,
    transfersCall: isTransfer,
    refusals: {
      auth_refused: errorOf(401, "10009"),
      caller_id_refused: errorOf(422, "10016", "/from"),
      misconfigured: errorOf(404, "10005"),
      number_refused: errorOf(422, "10016", "/to"),
      rate_limited: errorOf(429, "90103"),
      unexplained: errorOf(400, "99999")
    },
    wrongConfig: configOf(emulator, { api_key: "KEY-of-a-stranger", webhook_public_key: strangersKey })
  })
})
