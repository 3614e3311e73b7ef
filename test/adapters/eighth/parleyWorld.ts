import { hostedWorld } from "#test/adapters/conforms.ts"
import { OUR_NUMBER } from "#test/adapters/hosted.ts"
import { account, errorOf, ParleyEmulator, placesCall, transfersCall } from "./ParleyEmulator.ts"

export const openParley = async () =>
  hostedWorld(await ParleyEmulator.start(), {
    callerId: OUR_NUMBER,
    config: { signing_key: account.signingKey, token: account.token },
    placesCall,
    transfersCall,
    refusals: {
      auth_refused: errorOf(401, "bad_token"),
      caller_id_refused: errorOf(422, "bad_from"),
      no_credit: errorOf(402, "no_balance"),
      number_refused: errorOf(422, "bad_to"),
      rate_limited: errorOf(429, "slow_down")
    },
    wrongConfig: { signing_key: "of-a-stranger", token: "par_9999" }
  })
