/** Genuine callbacks of the carrier, for sending again, altered, or in another order. */
import type { Callback, CallbackRead } from "#core/provider/Callback.ts"
import { Result } from "effect"
import type { EngineSide } from "./EngineSide.ts"
import { NotAsked } from "./Nonconformity.ts"
import type { PlacedCall } from "./PlacedCall.ts"
import type { Scene } from "./Scene.ts"
import type { Config } from "./World.ts"

/** The case only applies to carriers that report calls in callbacks. */
export const mustRead = ({ adapter }: Scene): void => {
  if (adapter.read === undefined) throw new NotAsked("its carrier does not call us")
}

/** The callbacks of a call from its request to its end, as they arrived. */
export const callbacksOf = async (scene: Scene, engine: EngineSide, call: PlacedCall): Promise<ReadonlyArray<Callback>> => {
  await engine.ended(call)
  let seen = -1
  // The last ones arrive after the end is known, and nothing marks the last one.
  const isQuiet = () => {
    const count = engine.door.of(call).length
    const isSame = count === seen && count > 0
    seen = count
    return isSame || undefined
  }
  const why = "nothing else reports what becomes of a call"
  await scene.until("the carrier calls back", isQuiet, () => `${engine.door.of(call).length} callbacks`, why)
  return engine.door.of(call)
}

/** The genuine callbacks of a conversation. */
export const conversation = async (scene: Scene, engine: EngineSide) => {
  mustRead(scene)
  const call = await engine.accepted(scene.number("leaves"))
  return { call, callbacks: await callbacksOf(scene, engine, call) }
}

/** `forged`: `read` has refused it; `unreadable`: it threw. */
export const readAs = ({ adapter }: Scene, config: Config, callback: Callback): CallbackRead | "forged" | "unreadable" => {
  const read = Result.try(() => adapter.read?.(config, callback))
  return Result.isFailure(read) ? "unreadable" : (read.success ?? "forged")
}

/** Whether the callback is not accepted. */
export const isRejected = (scene: Scene, callback: Callback, config = scene.world.config): boolean =>
  typeof readAs(scene, config, callback) === "string"

/** Whether any of these would be accepted. */
export const someTaken = (scene: Scene, callbacks: ReadonlyArray<Callback>): boolean =>
  callbacks.some((callback) => !isRejected(scene, callback))
