/** Callbacks in every order, and repeated: whatever the order, they must report the same about the call. */
import type { Callback } from "#core/provider/Callback.ts"
import type { Rule } from "./Case.ts"
import { conversation, readAs } from "./genuine.ts"
import { Inbox } from "./Inbox.ts"
import { demand, NotAsked } from "./Nonconformity.ts"
import type { PlacedCall } from "./PlacedCall.ts"
import type { Scene } from "./Scene.ts"

/** With more callbacks than this, only the last ones are permuted. */
const MOST_PERMUTED = 5

const permutations = <A>(items: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  items.length < 2 ? [items] : items.flatMap((item, at) => permutations(items.toSpliced(at, 1)).map((rest) => [item, ...rest]))

/** The carrier's own id of the call, and the reported events, sorted. */
const toldBy = (scene: Scene, call: PlacedCall, callbacks: ReadonlyArray<Callback>): string => {
  const inbox = new Inbox()
  const told = new Set<string>()
  let providerCallId: string | undefined
  for (const callback of callbacks) {
    const known = { ...callback, call: { ...call.ref(), providerCallId } }
    const read = readAs(scene, scene.world.config, known)
    if (typeof read === "string" || inbox.store(known, read) !== "first") continue
    for (const { event } of read.events) {
      if (event._tag === "Named") providerCallId = event.providerCallId
      else told.add(event._tag === "HungUp" ? `HungUp ${event.cause}` : event._tag)
    }
  }
  return [...told]
    .sort()
    .concat(`named ${providerCallId === call.providerCallId ? "rightly" : "otherwise"}`)
    .join(", ")
}

const firstOf = (callbacks: ReadonlyArray<Callback>): ReadonlyArray<Callback> => {
  const isNew = (callback: Callback, at: number) =>
    callbacks.findIndex(({ body, url }) => url === callback.url && Buffer.from(body).equals(Buffer.from(callback.body))) === at
  return callbacks.filter(isNew)
}

export const callbackOrders: ReadonlyArray<Rule> = [
  {
    name: "order: callbacks report the same in every order, even before the reply to the request",
    holds: async (scene) => {
      const { call, callbacks } = await conversation(scene, await scene.engine())
      const distinct = firstOf(callbacks)
      const orderly = toldBy(scene, call, distinct)
      const [before, permuted] = [distinct.slice(0, -MOST_PERMUTED), distinct.slice(-MOST_PERMUTED)]
      for (const order of permutations(permuted)) {
        const told = toldBy(scene, call, [...order, ...before])
        demand(told === orderly, `"${orderly}", as in their own order`, () => `"${told}"`, "carriers deliver late, twice and in any order")
      }
    }
  },
  {
    name: "order: repeated callbacks report nothing new",
    holds: async (scene) => {
      const { call, callbacks } = await conversation(scene, await scene.engine())
      const orderly = toldBy(scene, call, callbacks)
      const twice = toldBy(scene, call, [...callbacks, ...callbacks.toReversed()].toReversed())
      demand(twice === orderly, `"${orderly}", as in their own order`, () => `"${twice}"`, "carriers deliver late, twice and in any order")
    }
  },
  {
    name: "order: events that come twice, out of order and before the reply lead to the same end",
    holds: async (scene) => {
      const engine = await scene.engine()
      const call = await engine.accepted(scene.number("disorderly"))
      const cause = await engine.ended(call)
      demand(cause === "normal_clearing", "the end normal_clearing", () => cause, "it was a conversation that ended normally")
      await engine.told(call, "Answered", "the contact of an unknown conversation is called again")
      await scene.wasDialed(call.to, { requested: 1, rung: 1 })
    }
  },
  {
    name: "order: what was reported while the engine was down is found by a look",
    holds: async (scene) => {
      const engine = await scene.engine()
      const call = await engine.accepted(scene.number("leaves"))
      engine.isDeaf = true
      // Until the end: part of the events may still be on their way.
      await scene.untilPhone(call.to, "ended", "its callee leaves")
      const { providerCallId } = call
      if (providerCallId === undefined) throw new NotAsked("the carrier names no call in its reply")
      await engine.isGone(call)
      const isWrong = call.has("HungUp") && !call.has("Answered")
      demand(
        !isWrong,
        "no end without the answer",
        () => call.story(),
        "somebody who has already talked to the agent would be called again"
      )
    }
  }
]
