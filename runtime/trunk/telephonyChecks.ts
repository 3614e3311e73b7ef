/** The checks that the engine itself adds to a test of a telephony configuration. */
import type { Adapter, Check } from "#core/provider/Adapter.ts"
import type { TrunkSetting } from "#core/telephony/TrunkSettings.ts"
import { type LiveTrunk, whyDown } from "./TrunkPool.ts"

const MOST_CHARACTERS = 500
/** A shorter secret may be part of an ordinary word. */
const SHORTEST_SECRET = 4

export const tooSlow: Check = {
  name: "time",
  result: "failed",
  message: "The provider did not answer everything in time.",
  advice: "See whether it is overloaded, and whether packets are lost on the way to it."
}
export const broken: Check = {
  name: "engine",
  result: "failed",
  message: "The engine could not test the configuration.",
  advice: "The engine's log has the reason."
}
export const notInstalled = (provider: string): Check => ({
  name: "provider",
  result: "failed",
  message: `The telephony provider '${provider}' is not installed.`,
  advice: "Install its adapter and name it in ADAPTERS."
})

export const liveCheck = (live: LiveTrunk): Check => {
  const reason = whyDown(live)
  if (reason !== undefined)
    return {
      name: "trunk",
      result: live.status()._tag === "Connecting" ? "warning" : "failed",
      message: `The engine's own connection is down: ${reason}`,
      advice: "The engine is reconnecting now. Test again in a few seconds."
    }
  const trouble = live.trouble()
  return trouble === undefined
    ? { name: "trunk", result: "passed", message: "The engine is connected and takes calls." }
    : {
        name: "trunk",
        result: "warning",
        message: `The engine is connected, but calls fail: ${trouble.detail}`,
        advice: "Until a call succeeds, the engine dials one call at a time."
      }
}

/** A provider's message may repeat a credential that it was sent. */
export const secretsOf = (adapter: Adapter | undefined, { credentials }: TrunkSetting): ReadonlyArray<string> =>
  Object.entries(credentials).flatMap(([name, value]) =>
    adapter?.fields[name]?.sensitive !== false && typeof value === "string" && value.length >= SHORTEST_SECRET ? [value] : []
  )
export const cleaned = (text: string, secrets: ReadonlyArray<string>): string =>
  secrets.reduce((said, secret) => said.replaceAll(secret, "*****"), text).slice(0, MOST_CHARACTERS)
export const withoutSecrets = (check: Check, secrets: ReadonlyArray<string>): Check => ({
  ...check,
  message: cleaned(check.message, secrets),
  ...(check.advice === undefined ? {} : { advice: cleaned(check.advice, secrets) })
})
