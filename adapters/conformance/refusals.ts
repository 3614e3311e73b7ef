/** Refusals in the carrier's own words: rates, credentials, numbers. Nobody is called, and the error says who has to act. */
import type { OriginateRefused } from "#core/provider/Adapter.ts"
import type { Rule } from "./Case.ts"
import { demand, inWords, NotAsked } from "./Nonconformity.ts"
import { NOWHERE, refusedAs, saysNoNumber } from "./originating.ts"
import { secretsIn, triedOut } from "./triedOut.ts"

const reasons: ReadonlyArray<readonly [reason: OriginateRefused["reason"], why: string]> = [
  ["rate_limited", "the trunk pauses for as long as the carrier says, and the contact is unaffected"],
  ["number_refused", "the contact fails and is not tried again"],
  ["caller_id_refused", "the number is no longer shown, and the campaign continues with the others"],
  ["auth_refused", "nothing can be dialed until a person acts"],
  ["no_credit", "nothing can be dialed until a person acts"],
  ["misconfigured", "nothing can be dialed until a person acts"],
  ["unexplained", "evidence decides whether it is the number's fault or the configuration's"]
]

export const refusals: ReadonlyArray<Rule> = [
  ...reasons.map(
    ([reason, why]): Rule => ({
      name: `refusal: ${reason}, in the carrier's own words`,
      holds: async (scene) => {
        const reply = scene.need("refusals")[reason]
        if (reply === undefined) throw new NotAsked("this world has no such refusal")
        const engine = await scene.engine()
        if (!scene.need("spoil")(false, reply)) throw new NotAsked("this world cannot send such a reply")
        const call = await engine.place(scene.number("leaves"))
        refusedAs(call, [reason], why)
        saysNoNumber(call.failure, call.to)
        await scene.wasDialed(call.to, { requested: 1, rung: 0 })
        if (reason !== "rate_limited") return
        const again = await engine.accepted(scene.number("busy"))
        await engine.ended(again)
      }
    })
  ),
  {
    name: "refusal: with wrong credentials, the trunk is down for them, calls are refused, and no secret is shown",
    holds: async (scene) => {
      const wrongConfig = scene.need("wrongConfig")
      const engine = await scene.open({ config: wrongConfig })
      const call = await engine.place(scene.number("stays"))
      refusedAs(call, ["auth_refused", "unreachable"], "the campaign pauses, and no contact is used up")
      await scene.until(
        "the trunk is down for its credentials",
        () => engine.statuses.some((status) => status._tag === "Down" && status.reason === "auth") || undefined,
        () => inWords(engine.statuses),
        "an operator must see what to repair"
      )
      const said = inWords([call.failure, engine.statuses])
      const shown = secretsIn(scene.adapter, wrongConfig).filter((secret) => said.includes(secret))
      demand(shown.length === 0, "words without a secret", () => "one of them", "they end up in logs")
      await scene.wasDialed(call.to, { requested: call.failure?._tag === "OriginateRefused" && call.asked === 1 ? 1 : 0, rung: 0 })
    }
  },
  {
    name: "refusal: a configuration that is tested gets reports of what is wrong with it, and nobody is called",
    holds: async (scene) => {
      const { apiOrigin, config, unreachableConfig } = scene.world
      const wrongConfig = scene.need("wrongConfig")
      const failed = (given: typeof config, at = apiOrigin) => triedOut(scene.adapter, given, at)
      const right = await failed(config)
      demand(right.length === 0, "no complaint about the correct one", () => inWords(right), "operators repair what is reported")
      const wrong = await failed(wrongConfig)
      demand(
        wrong[0]?.name === "credentials" && wrong.every(({ advice }) => advice !== undefined),
        "wrong credentials, with advice",
        () => inWords(wrong),
        "operators repair what is reported"
      )
      const nowhere = await failed(unreachableConfig ?? config, unreachableConfig === undefined ? NOWHERE : apiOrigin)
      const why = "operators repair what is reported"
      demand(nowhere[0]?.name === "connection", "no connection where nobody listens", () => inWords(nowhere), why)
      const shown = secretsIn(scene.adapter, wrongConfig).filter((secret) => inWords(wrong).includes(secret))
      demand(shown.length === 0, "words without a secret", () => "one of them", "they are shown")
    }
  }
]
