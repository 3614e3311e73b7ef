/**
 * Plivo in the suite. Of the cases of its reference, these are among the suite's:
 * P3 (the story), P4 (ends), P5 (a machine), P6 (altered fields), P10 (checkpoints), P11 (keys) and P13 (repeats).
 */
import plivo from "#adapters/plivo/plivo.ts"
import { errorOf, placesDialectCall, redirectsDialectCall } from "#test/emulators/shared/PlivoDialectEmulator.ts"
import { conforms, hostedWorld, talkMillis } from "./conforms.ts"
import { OUR_NUMBER } from "./hosted.ts"
import { config, start } from "./plivoWorld.ts"

conforms(plivo, async () => {
  const emulator = await start({ talkMillis })
  return hostedWorld(emulator, {
    callerId: OUR_NUMBER,
    config,
    holdQueue: (on) => emulator.holdQueue(on),
    placesCall: placesDialectCall,
    refusals: {
      auth_refused: errorOf(401, "authentication failed"),
      caller_id_refused: errorOf(400, "invalid 'from' number"),
      no_credit: errorOf(402, "insufficient credit"),
      number_refused: errorOf(400, "invalid 'to' number"),
      rate_limited: errorOf(429, "request rate limit exceeded"),
      unexplained: errorOf(400, "invalid number: to")
    },
    transfersCall: redirectsDialectCall,
    wrongConfig: { auth_id: `MA${"Y".repeat(18)}`, auth_token: "of-a-stranger" }
  })
})
