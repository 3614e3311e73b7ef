/**
 * Vobiz in the suite. Of the cases of its reference, these are among the suite's:
 * B3 (the story), B4 (ends), B5 (a machine), B9 (a lost reply), B11 (checkpoints) and B12 (the end of a stream).
 */
import vobiz from "#adapters/vobiz/vobiz.ts"
import { placesDialectCall, redirectsDialectCall } from "#test/emulators/shared/PlivoDialectEmulator.ts"
import { conforms, hostedWorld, talkMillis } from "./conforms.ts"
import { OUR_NUMBER } from "./hosted.ts"
import { config, start } from "./vobizWorld.ts"

const error = (status: number, message: string) => ({
  status,
  body: { error: { code: "REFUSED", message }, requestId: "req_1", status: "error" }
})

conforms(vobiz, async () => {
  const emulator = await start({ talkMillis })
  return hostedWorld(emulator, {
    callerId: OUR_NUMBER,
    config,
    placesCall: placesDialectCall,
    refusals: {
      auth_refused: error(401, "wrong"),
      caller_id_refused: error(422, "invalid 'from' number"),
      misconfigured: error(404, "no such account"),
      no_credit: error(402, "Account balance too low"),
      number_refused: error(400, "invalid 'to' number"),
      rate_limited: error(429, "CPS limit"),
      unexplained: error(403, "KYC")
    },
    transfersCall: redirectsDialectCall,
    wrongConfig: { auth_id: "MA_STRANGER", auth_token: "of-a-stranger" }
  })
})
