/** Placing calls: each one once, and none without permission. */
import type { OriginateRefused } from "#core/provider/Adapter.ts"
import { blockedBy } from "#core/provider/Setup.ts"
import type { Rule } from "./Case.ts"
import { demand, inWords, NotAsked } from "./Nonconformity.ts"
import type { PlacedCall } from "./PlacedCall.ts"

/** Nobody listens there. */
export const NOWHERE = new URL("http://127.0.0.1:9")
/** Texts about a call end up in logs, which must not contain numbers. */
export const saysNoNumber = (words: unknown, number: string): void =>
  demand(!inWords(words).includes(number.slice(-8)), "words without the number", () => "the number", "they end up in logs")

const UNUSABLE = "+1555;/@x"

export const refusedAs = ({ failure }: PlacedCall, reasons: ReadonlyArray<OriginateRefused["reason"]>, why: string): void =>
  demand(
    failure?._tag === "OriginateRefused" && reasons.includes(failure.reason),
    `OriginateRefused with ${reasons.join(" or ")}`,
    () => (failure === undefined ? "success" : `${failure._tag}: ${failure.message}`),
    why
  )

export const originating: ReadonlyArray<Rule> = [
  {
    name: "originate: a call is placed once, and reported from its answer to its end",
    holds: async (scene) => {
      const engine = await scene.engine()
      const to = scene.number("leaves")
      const call = await engine.accepted(to)
      const cause = await engine.ended(call)
      demand(call.has("Answered"), "the answer to be reported", () => call.story(), "nobody would talk to the callee")
      demand(cause === "normal_clearing", "the end normal_clearing", () => cause, "a conversation that ended normally is not a failure")
      const [answered, ended] = [call.of("Answered").find(({ at }) => at !== undefined)?.at, call.of("HungUp").at(-1)?.at]
      demand(
        answered === undefined || ended === undefined || answered <= ended,
        "an answer that is not later than the end",
        () => inWords({ answered, ended }),
        "the length of a conversation is computed from these times"
      )
      demand(call.providerCallId !== undefined, "the carrier's id of the call to be known", () => call.story(), "a call without it is lost")
      await scene.wasDialed(to, { requested: 1, rung: 1 })
      await scene.wasEndedBy(to, "callee")
    }
  },
  {
    name: "originate: two calls at once are told apart",
    holds: async (scene) => {
      const engine = await scene.engine()
      const [stays, leaves] = await Promise.all([engine.accepted(scene.number("stays")), engine.accepted(scene.number("leaves"))])
      await engine.ended(leaves)
      await engine.told(stays, "Answered", "its callee has answered")
      const why = "an end that is reported for another call hangs up on somebody who is talking"
      demand(!stays.has("HungUp"), "no end of the call that continues", () => stays.story(), why)
      demand(stays.providerCallId !== leaves.providerCallId, "two ids", () => "one id for both", why)
      await engine.hangUp(stays)
      await engine.ended(stays)
      for (const { to } of [stays, leaves]) await scene.wasDialed(to, { requested: 1, rung: 1 })
    }
  },
  {
    name: "originate: permission is asked for once, before the request leaves",
    holds: async (scene) => {
      const engine = await scene.engine()
      const requested = scene.need("requested")
      const to = scene.number("leaves")
      let before: number | Promise<number> = -1
      const leave = () => {
        before = requested(to)
        return true
      }
      const call = await engine.accepted(to, { leave })
      const why = "the window may have closed, and the journal is written when permission is given"
      demand(call.asked === 1, "permission to be asked for once", () => `${call.asked} times`, why)
      demand((await before) === 0, "no request before permission was given", () => inWords(before), why)
      await engine.ended(call)
      await scene.wasDialed(to, { requested: 1, rung: 1 })
    }
  },
  {
    name: "originate: without permission, nothing leaves",
    holds: async (scene) => {
      const engine = await scene.engine()
      const call = await engine.place(scene.number("stays"), { leave: () => false })
      refusedAs(call, ["permit_lapsed"], "it says nothing about the trunk, and the contact is dialed later")
      demand(call.asked === 1, "permission to be asked for once", () => `${call.asked} times`, "the second answer may differ")
      demand(call.events.length === 0, "nothing to be reported", () => call.story(), "there is no such call")
      await scene.wasDialed(call.to, { requested: 0, rung: 0 })
    }
  },
  {
    name: "originate: a number that cannot be dialed is refused, and no request leaves",
    holds: async (scene) => {
      const call = await (await scene.engine()).place(UNUSABLE)
      refusedAs(call, ["number_refused"], "the contact fails at once and is not tried again")
      demand(call.asked === 0, "no request", () => "one that asked for permission", "numbers become part of addresses and documents")
    }
  },
  {
    name: "originate: if nobody listens at the address, the call is refused and not in doubt",
    holds: async (scene) => {
      const { apiOrigin, cannot, unreachableConfig } = scene.world
      if (unreachableConfig === undefined && apiOrigin === undefined) throw new NotAsked(cannot?.unreachable ?? "there is no such address")
      const place = unreachableConfig === undefined ? { apiOrigin: NOWHERE } : { config: unreachableConfig }
      const engine = await scene.open(place)
      refusedAs(await engine.place(scene.number("stays")), ["unreachable"], "a contact in doubt is written off, although nobody was called")
      await scene.until(
        "the trunk is down as unreachable",
        () => engine.statuses.some((status) => status._tag === "Down" && status.reason === "unreachable") || undefined,
        () => inWords(engine.statuses),
        "the engine dials on trunks that are up"
      )
    }
  },
  {
    name: "originate: without a public address, no call is placed whose outcome could not be reported",
    holds: async (scene) => {
      if (scene.adapter.read === undefined) throw new NotAsked("its carrier does not call us")
      const engine = await scene.open({ isPublic: false })
      const call = await engine.place(scene.number("stays"))
      refusedAs(call, ["unreachable", "misconfigured"], "callees would answer, and the engine would not know")
      demand(
        !engine.statuses.some(({ _tag }) => _tag === "Up"),
        "a trunk that is not up",
        () => inWords(engine.statuses),
        "it cannot carry calls"
      )
      const steps = scene.adapter.setup?.(scene.world.config, { callbackUrl: undefined, publicUrl: undefined }) ?? []
      demand(
        steps.some(({ blocksOutbound, isComplete }) => blocksOutbound && !isComplete),
        "a step of `setup` that is missing and blocks calls",
        () => inWords(steps),
        "an operator must see what is missing"
      )
      const publicUrl = "https://voice.example.com"
      const callbackUrl = (kind: string) => `${publicUrl}/${kind}`
      const blocked = blockedBy(scene.adapter.setup?.(scene.world.config, { callbackUrl, publicUrl }) ?? [])
      demand(blocked === undefined, "nothing to be missing with a public address", () => inWords(blocked), "campaigns would not start")
      await scene.wasDialed(call.to, { requested: 0, rung: 0 })
    }
  }
]
