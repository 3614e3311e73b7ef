/** How unanswered calls end, and what else is reported about answered ones. */
import { Effect } from "effect"
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import type { Rule } from "./Case.ts"
import { demand, inWords, NotAsked } from "./Nonconformity.ts"
import type { Scene } from "./Scene.ts"
import type { Callee } from "./World.ts"

/** Causes that give the same outcome in the engine. */
const causes: ReadonlyArray<readonly [callee: Callee, causes: ReadonlyArray<HangupCause>]> = [
  ["busy", ["user_busy"]],
  ["declines", ["call_rejected", "facility_rejected"]],
  ["doesNotAnswer", ["no_answer", "no_user_response", "subscriber_absent"]],
  ["doesNotExist", ["unallocated_number", "invalid_number_format", "number_changed"]],
  ["congested", ["congestion", "temporary_failure", "network_out_of_order", "destination_out_of_order"]]
]

const unanswered = async (scene: Scene, callee: Callee, expected: ReadonlyArray<HangupCause>, ringTimeoutSeconds?: number) => {
  const engine = await scene.engine()
  const call = await engine.accepted(scene.number(callee), ringTimeoutSeconds === undefined ? {} : { ringTimeoutSeconds })
  const cause = await engine.ended(call)
  const why = "whether the contact is called again, and when, depends on it"
  demand(expected.includes(cause), `the end ${expected.join(" or ")}`, () => cause, why)
  demand(
    !call.has("Answered"),
    "no answer to be reported",
    () => call.story(),
    "an agent would talk to nobody, and the contact would never be called again"
  )
  await scene.wasDialed(call.to, { requested: 1, rung: 1 })
}

/** The detection events of a call that has ended, including those from its record. */
const detection = (callee: "machine" | "stays", detect: "who" | "no") => async (scene: Scene) => {
  const engine = await scene.engine()
  const call = await engine.answered(scene.number(callee), { detect })
  const isTold = scene.adapter.manifest.tells?.includes("answerer") === true
  if (isTold && detect === "who") await engine.told(call, "Detected", "the manifest says that the carrier reports who answered")
  await engine.hangUp(call)
  await engine.ended(call)
  const told = call.of("Detected").map(({ who }) => who)
  if (!isTold || detect === "no") {
    const why = isTold
      ? "detection costs, and delays the agent"
      : "the manifest does not say that the carrier reports it: add `answerer` to `tells`"
    return demand(told.length === 0, "nobody to be detected", () => told.join(", "), why)
  }
  const isMachine = callee === "machine"
  const isRight = isMachine ? told.every((who) => who === "machine") : !told.includes("machine") && !told.includes("fax")
  demand(
    isRight,
    isMachine ? "a machine" : "no machine",
    () => told.join(", "),
    "an agent hangs up on machines, and must not hang up on people"
  )
}

export const outcomes: ReadonlyArray<Rule> = [
  ...causes.map(
    ([callee, expected]): Rule => ({
      name: `outcome: a callee of the kind ${callee} is reported as ${expected[0]}`,
      holds: (scene) => unanswered(scene, callee, expected)
    })
  ),
  {
    name: "outcome: a phone that rings for too long is given up by the carrier",
    // The engine itself gives up later than that.
    holds: (scene) => unanswered(scene, "ringsOut", ["ring_timeout", "no_answer", "no_user_response"], 2)
  },
  {
    name: "outcome: ringing is reported if the manifest says so",
    holds: async (scene) => {
      const engine = await scene.engine()
      const call = await engine.accepted(scene.number("leaves"))
      await engine.ended(call)
      if (scene.adapter.manifest.tells?.includes("ringing") === true)
        await engine.told(call, "Rang", "the manifest says that ringing is reported")
      else demand(!call.has("Rang"), "no `Rang`", () => call.story(), "it is not in the manifest: add `ringing` to `tells`")
    }
  },
  { name: "outcome: a machine is reported if detection is requested", holds: detection("machine", "who") },
  { name: "outcome: a human is not taken for a machine", holds: detection("stays", "who") },
  { name: "outcome: nobody is detected if detection is not requested", holds: detection("machine", "no") },
  {
    name: "outcome: what a call cost is reported if the manifest says so",
    holds: async (scene) => {
      const engine = await scene.engine()
      const { pricesRecords, tells } = scene.adapter.manifest
      const call = await engine.accepted(scene.number("leaves"))
      await engine.ended(call)
      if (tells?.includes("cost") !== true) {
        await engine.look(call)
        return demand(
          !call.has("Billed") && pricesRecords !== true,
          "no cost",
          () => call.story(),
          "it is not in the manifest: add `cost` to `tells`"
        )
      }
      const billed = async () => {
        if (!call.has("Billed")) await engine.look(call)
        return call.of("Billed").at(-1)
      }
      const bill = await scene.until(
        "the cost is reported",
        billed,
        () => call.story(),
        "the manifest says so, and it is shown for each run"
      )
      const isAmount = /^\d+(\.\d+)?$/.test(bill.amount) && /^[A-Z]{3}$/.test(bill.currency)
      demand(isAmount, "a decimal without a sign, and a currency in three letters", () => inWords(bill), "costs are added up")
    }
  },
  {
    name: "outcome: the account's own numbers are listed",
    holds: async (scene) => {
      const { numbers } = (await scene.engine()).trunk
      if (numbers === undefined) throw new NotAsked("its carrier does not list numbers")
      const listed = await Effect.runPromise(numbers)
      demand(
        listed.every((number) => /^\+[1-9]\d{6,14}$/.test(number)),
        "numbers in E.164",
        () => `${listed.length} others`,
        "they are offered as caller ids"
      )
      const { callerId } = scene.world
      demand(
        callerId === undefined || listed.includes(callerId),
        "the caller id among them",
        () => `${listed.length} others`,
        "it is the account's"
      )
    }
  }
]
