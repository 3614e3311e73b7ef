/**
 * A later request settles the fate of one without a reply: once Asterisk has answered the later one, and enough time has passed, nothing will
 * come of the earlier one (`AriDoubt`). But while calls in doubt hold every slot, or nothing is left to dial, no later call is requested. Then a
 * request that cannot become a call takes its place.
 */
import { randomUUID } from "node:crypto"
import { Effect } from "effect"
import type { Outcome } from "#adapters/shared/HttpClient.ts"
import { ask, type Asterisk, channelPath, isFromAsterisk, isNoChannel, isSuccess, nobody } from "./Asterisk.ts"

/** While anything is being dialed, even by a trunk that pauses between probes, a call leaves at least this often. */
const QUIET_MILLIS = 65_000

/**
 * Takes the same path as a call as far as possible: with PJSIP, the request fails on an endpoint that it does not have; with any other driver, on
 * a technology that does not exist. Asterisk answers both with `500 Allocation failed`, creates no channel and calls nobody (22.10).
 */
const endpointOf = (dialString: string): string => (/^pjsip\//i.test(dialString) ? `PJSIP/${nobody}` : "Trunkline/nobody")

/** Returns a function to be called for a request in doubt, as often as anybody asks. `leftAt`: when that request left, in steady time. */
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

/** An endpoint with the reserved name exists, so the request created a channel: hangs it up. */
const end = (asterisk: Asterisk, channelId: string) =>
  Effect.logError("the endpoint name reserved for probes exists: an originate to it created a channel").pipe(
    Effect.andThen(ask(asterisk, "hangup", { method: "DELETE", path: channelPath(channelId) }, isNoChannel)),
    Effect.ignore
  )
