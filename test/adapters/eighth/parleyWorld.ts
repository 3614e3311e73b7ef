import { hostedWorld } from "#test/adapters/conforms.ts"
import { errorOf, startParley } from "./ParleyEmulator.ts"

export const openParley = async () =>
  hostedWorld(await startParley(), {
    strangers: { signing_key: "of-a-stranger", token: "par_9999" },
    refusals: {
      auth_refused: errorOf(401, "bad_token"),
      caller_id_refused: errorOf(422, "bad_from"),
      no_credit: errorOf(402, "no_balance"),
      number_refused: errorOf(422, "bad_to"),
      rate_limited: errorOf(429, "slow_down")
    }
  })
