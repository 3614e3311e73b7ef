/** Requests whose reply is lost or proves nothing: the call is in doubt, never requested a second time, and found again. */
import { isAlive, type Presence } from "#core/provider/Adapter.ts"
import type { Rule } from "./Case.ts"
import type { EngineSide } from "./EngineSide.ts"
import { demand, inWords, NotAsked } from "./Nonconformity.ts"
import { saysNoNumber } from "./originating.ts"
import type { PlacedCall } from "./PlacedCall.ts"
import type { Scene } from "./Scene.ts"
import type { CarrierReply } from "./World.ts"

const inDoubt = ({ failure, to }: PlacedCall): void => {
  demand(
    failure?._tag === "OriginateDoubtful",
    "OriginateDoubtful",
    () => (failure === undefined ? "success" : `${failure._tag}: ${failure.message}`),
    "a refusal says that nobody was called, and the contact would be called a second time"
  )
  saysNoNumber(failure, to)
}

const spoil = (scene: Scene, places: boolean, reply: "lost" | "late" | CarrierReply): void => {
  if (!scene.need("spoil")(places, reply)) throw new NotAsked("this world cannot send such a reply")
}

const TAKEN = "its end would be recorded for another attempt, and its callee hung up on: ask `isOthers` about whatever a search finds"

/** Demands that the call is known again: it can be ended, and is the only call. */
const endIt = async (scene: Scene, engine: EngineSide, call: PlacedCall): Promise<void> => {
  await engine.hangUp(call)
  await engine.isGone(call)
  await scene.wasEndedBy(call.to, "us")
  await scene.wasDialed(call.to, { requested: 1, rung: 1 })
}

const page = "<html><body>Something else answers</body></html>"
/** What a proxy, a login page or a fault at the carrier looks like. */
const replies: ReadonlyArray<readonly [what: string, reply: CarrierReply]> = [
  ["an error of a proxy (502)", { status: 502, body: page }],
  ["an error of a proxy (503)", { status: 503, body: page, headers: { "retry-after": "7" } }],
  ["a login page (401)", { status: 401, body: page }],
  ["a page that forbids it (403)", { status: 403, body: page }],
  ["a page that says that requests are too frequent (429)", { status: 429, body: page }],
  ["a redirect", { status: 302, headers: { location: "/elsewhere" } }],
  ["a page", { status: 200, body: page }],
  ["nothing but a status", { status: 200 }],
  ["an empty object", { status: 200, body: {} }],
  ["an array", { status: 201, body: [[]] }],
  ["an error with status 200", { status: 200, body: { error: "not now", message: "not now" } }],
  ["a server error in JSON", { status: 500, body: { error: "not now", message: "not now" } }]
]

export const lostReplies: ReadonlyArray<Rule> = [
  {
    name: "lost reply: a call that was placed is in doubt, and what the carrier reports names it",
    holds: async (scene) => {
      const engine = await scene.engine()
      spoil(scene, true, "lost")
      const call = await engine.place(scene.number("stays"))
      // An event of the call may arrive before the loss is noticed, and prove that the call was accepted.
      if (call.failure !== undefined) inDoubt(call)
      await engine.told(call, "Answered", "the callee has answered and waits for somebody to speak")
      await endIt(scene, engine, call)
      await engine.ended(call)
    }
  },
  {
    name: "lost reply: if nothing was reported about the call either, a look finds it if the manifest says so",
    holds: async (scene) => {
      const engine = await scene.engine()
      engine.isDeaf = true
      spoil(scene, true, "lost")
      const call = await engine.place(scene.number("stays"))
      if (call.failure !== undefined) inDoubt(call)
      await scene.untilPhone(call.to, "up", "the call was placed")
      engine.isDeaf = false
      const presence = await engine.look(call)
      const isFound = presence !== undefined && isAlive(presence)
      const isTold = scene.adapter.manifest.tells?.includes("unnamed") === true
      const why = "the callee of a call that is not found talks to nobody, or the call is taken for one that was never placed"
      demand(presence !== "never_placed" && presence !== "ended", "no proof that it is over", () => inWords(presence), why)
      demand(
        isFound === isTold,
        isTold ? "the call to be found" : "the call not to be found: add `unnamed` to `tells`",
        () => inWords(presence),
        why
      )
      if (!isFound) return
      await endIt(scene, engine, call)
    }
  },
  {
    name: "lost reply: a request that was lost on the way is in doubt, and not repeated",
    holds: async (scene) => {
      const engine = await scene.engine()
      spoil(scene, false, "lost")
      const call = await engine.place(scene.number("stays"))
      inDoubt(call)
      const presence: Presence | undefined = await engine.look(call)
      demand(presence === undefined || !isAlive(presence), "no live call", () => inWords(presence), "there is none")
      demand(call.asked === 1, "permission to be asked for once", () => `${call.asked} times`, "a second request may call a second time")
      await scene.wasDialed(call.to, { requested: 1, rung: 0 })
    }
  },
  {
    name: "lost reply: another call to the same number is not taken for one that was never placed",
    holds: async (scene) => {
      const engine = await scene.engine()
      const other = await engine.answered(scene.number("stays"))
      spoil(scene, false, "lost")
      const call = await engine.place(other.to)
      inDoubt(call)
      const presence = await engine.look(call)
      const isFound = call.has("Named") || (presence !== undefined && isAlive(presence))
      demand(!isFound, "no call to be found", () => inWords([presence, call.story()]), TAKEN)
      await engine.hangUp(other)
      await engine.ended(other)
      await scene.wasDialed(other.to, { requested: 2, rung: 1 })
    }
  },
  {
    name: "lost reply: of two calls to the same number, a look finds the one that was lost, if the manifest says so",
    holds: async (scene) => {
      if (scene.adapter.manifest.tells?.includes("unnamed") !== true)
        throw new NotAsked("the manifest does not say that calls without a name are found")
      const engine = await scene.engine()
      const other = await engine.answered(scene.number("stays"))
      engine.isDeaf = true
      spoil(scene, true, "lost")
      const call = await engine.place(other.to)
      const found = async () => {
        const presence = await engine.look(call)
        return (presence !== undefined && isAlive(presence)) || undefined
      }
      const why = "of the two, it is the one that is not another call of ours"
      await scene.until("the call that was lost is found", found, () => call.story(), why)
      engine.isDeaf = false
      demand(call.providerCallId !== other.providerCallId, "the id of its own call", () => "that of the other call", TAKEN)
      for (const one of [call, other]) {
        await engine.hangUp(one)
        await engine.isGone(one)
      }
      await scene.wasDialed(other.to, { requested: 2 })
    }
  },
  {
    name: "lost reply: one that comes after we have stopped waiting names the call",
    holds: async (scene) => {
      const replyLate = scene.need("replyLate")
      const engine = await scene.engine()
      engine.door.deafTo = ["document", "event"]
      spoil(scene, true, "late")
      const call = await engine.place(scene.number("stays"))
      inDoubt(call)
      replyLate()
      await engine.told(call, "Named", "a call without a name cannot be ended")
      engine.door.deafTo = []
      await endIt(scene, engine, call)
    }
  },
  ...replies.flatMap(([what, reply]) =>
    [true, false].map(
      (places): Rule => ({
        name: `lost reply: ${what} proves nothing, whether the call was ${places ? "placed" : "not placed"}`,
        holds: async (scene) => {
          const engine = await scene.engine()
          spoil(scene, places, reply)
          const call = await engine.place(scene.number("busy"))
          // Events of a placed call may have proven it in the meantime.
          if (!places || call.failure !== undefined) inDoubt(call)
          if (places) await engine.ended(call)
          await scene.wasDialed(call.to, { requested: 1, rung: places ? 1 : 0 })
        }
      })
    )
  )
]
