/**
 * Twilio in the suite. Of the cases of its reference, these are among the suite's:
 * T3 (disorder), T4 (ends), T5 (a machine), T7 (a lost reply), T9 (altered fields) and T13 (a second hang-up).
 */
import twilio from "#adapters/twilio/twilio.ts"
import { placesCall, redirectsCall, TwilioEmulator } from "#test/emulators/twilio/TwilioEmulator.ts"
import { conforms, hostedWorld, talkMillis } from "./conforms.ts"
import { OUR_NUMBER } from "./hosted.ts"

const error = (status: number, code: number) => ({ status, body: { code, message: "No call to +15551234567", more_info: "", status } })

conforms(twilio, async () => {
  const emulator = await TwilioEmulator.start({ callsPerSecond: 1000, numbers: [OUR_NUMBER], talkMillis })
  return hostedWorld(emulator, {
    callerId: OUR_NUMBER,
    config: { account_sid: emulator.accountSid, amd_enabled: true, auth_token: emulator.authToken },
    holdQueue: (on) => emulator.holdQueue(on),
    placesCall,
    transfersCall: redirectsCall,
    refusals: {
      auth_refused: error(401, 20003),
      caller_id_refused: error(400, 21210),
      number_refused: error(400, 21211),
      rate_limited: error(429, 20429),
      unexplained: error(400, 99999)
    },
    wrongConfig: { account_sid: `AC${"1".repeat(32)}`, amd_enabled: true, auth_token: "0".repeat(32) }
  })
})
