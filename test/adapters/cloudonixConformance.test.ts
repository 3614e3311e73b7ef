/** Cloudonix in the suite. Of the cases of its reference, these are among the suite's: N6 (ends), N11 (a second hang-up) and N13 (marks). */
import cloudonix from "#adapters/cloudonix/cloudonix.ts"
import { isOrder, startCloudonixEmulator } from "#test/emulators/cloudonix/CloudonixEmulator.ts"
import { configOf } from "./cloudonixWorld.ts"
import { conforms, hostedWorld, talkMillis } from "./conforms.ts"
import { OUR_NUMBER } from "./hosted.ts"

const error = (status: number) => ({ status, body: { message: "No call to +15551234567" } })

conforms(cloudonix, async () => {
  const emulator = await startCloudonixEmulator({ numbers: [OUR_NUMBER], talkMillis })
  return hostedWorld(emulator, {
    callerId: OUR_NUMBER,
    cannot: { machine: "Cloudonix detects no machines" },
    config: configOf(emulator),
    placesCall: isOrder,
    refusals: { auth_refused: error(401), misconfigured: error(404), no_credit: error(402), rate_limited: error(429) },
    wrongConfig: configOf(emulator, { bearer_token: "XI-of-a-stranger" })
  })
})
