/**
 * What became of a request without an answer is settled by a later one: once Asterisk has answered that, and time enough has passed, nothing
 * will come of the earlier one (`AriDoubt`). Where calls in doubt hold every slot, or nothing is left to dial, no later call is requested. A
 * request that cannot become a call takes its part then.
 */
import { randomUUID } from "node:crypto"
import { Effect } from "effect"
import type { Outcome } from "./AriRest.ts"
import { ask, type Asterisk, channelPath, isFromAsterisk, isNoChannel, isSuccess, nobody } from "./Asterisk.ts"

/** While anything is dialed, even by a trunk that rests between its probes, a call leaves at least this often. */
const QUIET_MILLIS = 65_000

/**
 * Takes the way of the calls as far as it goes: PJSIP's own request fails on an endpoint that it does not have, any other driver's on a
 * technology that nobody has. Asterisk answers both with `500 Allocation failed`, makes no channel and calls nobody (22.10).
 */
const endpointOf = (dialString: string): string => (/^pjsip\//i.test(dialString) ? `PJSIP/${nobody}` : "Trunkline/nobody")

/** What is returned is called for each request in doubt, as often as anybody asks. `leftAt`: when it left, in steady time. */
export const makeOvertaking = (asterisk: Asterisk, dialString: string) => {
  const { doubt } = asterisk
  const query = { endpoint: endpointOf(dialString), app: asterisk.application }
  let isUnderWay = false

  const overtake = Effect.suspend(() => {
    const channelId = `${nobody}-${randomUUID()}`
    let leftAt: number | undefined
    const leave = () => {
      if (asterisk.status._tag !== "Up") return false
      leftAt = asterisk.now()
      doubt.left(leftAt)
      return true
    }
    const settled = (outcome: Outcome) => {
      isUnderWay = false
      if (!("status" in outcome) || leftAt === undefined) return
      if (isSuccess(outcome)) asterisk.background(end(asterisk, channelId))
      else if (isFromAsterisk(outcome)) doubt.answered(leftAt, asterisk.now())
      if (outcome.retryAfterMillis !== undefined) doubt.restUntil(asterisk.now() + outcome.retryAfterMillis)
    }
    return asterisk.rest.place({ method: "POST", path: "/channels", query: { ...query, channelId }, leave }, settled)
  })

  return (leftAt: number): void => {
    if (isUnderWay || asterisk.status._tag !== "Up" || !doubt.needsOvertaking(leftAt, asterisk.now(), QUIET_MILLIS)) return
    isUnderWay = true
    asterisk.background(Effect.ignore(overtake))
  }
}

/** Somebody has given an endpoint this name. */
const end = (asterisk: Asterisk, channelId: string) =>
  Effect.logError("the endpoint that nobody is to have exists: an originate to it made a channel").pipe(
    Effect.andThen(ask(asterisk, "hangup", { method: "DELETE", path: channelPath(channelId) }, isNoChannel)),
    Effect.ignore
  )
