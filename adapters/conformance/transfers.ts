/** Calls that are transferred. */
import { Effect, Result } from "effect"
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import type { MediaStream } from "#core/provider/Media.ts"
import type { TransferDoubtful, TransferRefused, TransferRequest } from "#core/provider/Transfer.ts"
import type { Rule } from "./Case.ts"
import type { EngineSide } from "./EngineSide.ts"
import { isSeen } from "./hangingUp.ts"
import { demand, inWords, NotAsked } from "./Nonconformity.ts"
import type { PlacedCall } from "./PlacedCall.ts"
import type { Scene } from "./Scene.ts"

const PATIENT_SECONDS = 300

/** An answered call, whose callee can be transferred. */
class Handed {
  readonly call: PlacedCall
  readonly engine: EngineSide
  /** How often the adapter has asked whether the request of the latest transfer may leave. */
  asked = 0
  /** How many frames have been heard from the callee since this was set. */
  heard = 0
  #transfers = 0
  #to = ""
  readonly #scene: Scene
  readonly #stream: () => MediaStream | undefined
  #listened: MediaStream | undefined
  /** The callee's stream when the latest transfer was requested. */
  #left: MediaStream | undefined

  constructor(scene: Scene, engine: EngineSide, call: PlacedCall, stream: MediaStream) {
    this.#scene = scene
    this.engine = engine
    this.call = call
    this.#stream = scene.adapter.media === undefined ? () => stream : () => engine.door.media.streamOf(call.callId)
  }

  /** Returns undefined if the transfer has begun. */
  async hand(
    to: string,
    more: Partial<Pick<TransferRequest, "leave" | "timeoutSeconds">> = {}
  ): Promise<TransferRefused | TransferDoubtful | undefined> {
    const { transfer } = this.engine.trunk
    this.#transfers += 1
    this.#to = to
    this.#left = this.#stream()
    this.asked = 0
    const leave = () => {
      this.asked += 1
      return more.leave?.() ?? true
    }
    const request = { kind: "attended", timeoutSeconds: PATIENT_SECONDS, ...more, leave, to, transfer: this.#transfers } as const
    const result = await Effect.runPromise(Effect.result(transfer?.(this.call.ref(), request) ?? Effect.die("cannot transfer")))
    return Result.isFailure(result) ? result.failure : undefined
  }

  /** A transfer that must begin. */
  async begin(to: string, more: Parameters<Handed["hand"]>[1] = {}): Promise<void> {
    const failure = await this.hand(to, more)
    demand(failure === undefined, "the carrier to take the transfer", () => inWords(failure), "this is an ordinary transfer")
    demand(
      this.asked === 1,
      "permission to be asked for once",
      () => `${this.asked} times`,
      "the call to the destination counts towards the account's rate"
    )
  }

  /** The reported outcome of the latest transfer. */
  async outcome() {
    return await this.#scene.until(
      "what came of the transfer is reported",
      () => this.#told()[0],
      () => this.call.story(),
      "otherwise nobody talks to the callee"
    )
  }

  /** Waits until the destination has answered. If the carrier does not report that, only the destination's phone shows it. */
  async answered(): Promise<void> {
    if (this.#scene.adapter.manifest.tells?.includes("joined") === true) {
      const outcome = await this.outcome()
      return demand(
        outcome.answered,
        "an answer to be reported",
        () => inWords(outcome),
        "the agent would talk to somebody who is not there"
      )
    }
    await this.#scene.untilPhone(this.#to, "up", "it has answered")
    await isSeen(this.#scene, this.engine, this.call, "up")
    this.#isUntold()
  }

  /** The destination has answered, and has hung up or is about to. A late report of the answer arrives now, if at all. */
  async wasAnswered(): Promise<void> {
    if (this.#scene.adapter.manifest.tells?.includes("joined") === true) return await this.answered()
    await this.#scene.untilPhone(this.#to, "ended", "it has hung up", (seen) => seen === "up" && this.#isUntold())
  }

  /** Waits until the callee is back with the agent. `causes`: why, if the carrier reports it. */
  async isBack(causes?: ReadonlyArray<HangupCause>): Promise<void> {
    const tellsWhy = this.#scene.adapter.manifest.tells?.includes("declined") === true
    if (tellsWhy) {
      const outcome = await this.outcome()
      demand(!outcome.answered, "no answer to be reported", () => inWords(outcome), "nobody would talk to the callee")
      const isWhy = causes === undefined || outcome.answered || causes.includes(outcome.cause)
      demand(isWhy, causes?.join(" or ") ?? "", () => inWords(outcome), "the agent tells the callee")
    }
    await isSeen(this.#scene, this.engine, this.call, "up")
    this.heard = 0
    const why = "a callee who is not heard hangs up"
    const isHeard = () => {
      this.#listen()
      if (!tellsWhy && this.#told().length > 0) return true
      // Without a report, only another stream shows it.
      return (this.heard > 0 && (tellsWhy || this.#listened !== this.#left)) || undefined
    }
    await this.#scene.until("the callee is heard again", isHeard, () => this.engine.door.media.story(this.call.callId), why)
    if (tellsWhy) return
    const whyNot = "what can be relied upon is in the manifest: add `declined` to `tells`"
    demand(this.#told().length === 0, "no refusal to be reported", () => inWords(this.#told()), whyNot)
  }

  async over(): Promise<void> {
    await this.engine.ended(this.call)
    await this.#scene.untilPhone(this.call.to, "ended", "it talks to nobody")
  }

  #isUntold(): void {
    const whyNot = "what can be relied upon is in the manifest: add `joined` to `tells`"
    demand(this.#told().length === 0, "no answer to be reported before they have talked", () => inWords(this.#told()), whyNot)
  }

  /** The events of the latest transfer. */
  #told() {
    return this.call.of("Transferred").filter(({ transfer }) => transfer === this.#transfers)
  }

  /** The newest stream. */
  #listen(): void {
    const stream = this.#stream()
    if (stream === undefined || stream === this.#listened) return
    this.#listened = stream
    this.heard = 0
    stream.listen({ closed: () => {}, frame: () => void (this.heard += 1) })
  }
}

const given = async (scene: Scene): Promise<Handed> => {
  if (scene.adapter.manifest.transfers?.includes("attended") !== true)
    throw new NotAsked("its carrier cannot connect anybody to a live call")
  const engine = await scene.engine()
  const call = await engine.answered(scene.number("stays"))
  return new Handed(scene, engine, call, await engine.audio(call))
}

const isDialed = async (scene: Scene, to: string, rung: 0 | 1): Promise<void> => {
  const { rung: seen } = await scene.world.phone(to)
  if (seen === undefined && scene.world.cannot?.rung !== undefined) return
  demand(seen === rung, `calls at the destination's phone: ${rung}`, () => inWords(seen), "nobody may be called twice")
}

const lost = (places: boolean): Rule => ({
  name: `transfer: a request whose reply is lost is in doubt and not repeated, whether it was ${places ? "" : "not "}carried out`,
  holds: async (scene) => {
    const handed = await given(scene)
    const spoil = scene.need("spoilTransfer")
    if (!spoil(places)) throw new NotAsked("this world cannot lose such a reply")
    const to = scene.number("stays")
    const failure = await handed.hand(to)
    // If our own id identifies the destination's leg, its outcome is reported nevertheless.
    const isRight = failure === undefined || failure._tag === "TransferDoubtful"
    demand(isRight, "TransferDoubtful", () => inWords(failure), "the destination may be ringing")
    if (places) await handed.answered()
    else await isSeen(scene, handed.engine, handed.call, "up")
    await handed.engine.hangUp(handed.call)
    await handed.over()
    await isDialed(scene, to, places ? 1 : 0)
  }
})

export const transfers: ReadonlyArray<Rule> = [
  {
    name: "transfer: the manifest says whether calls can be transferred",
    holds: async (scene) => {
      const { trunk } = await scene.engine()
      const isDeclared = (scene.adapter.manifest.transfers ?? []).length > 0
      const why = "agents are offered only what their calls support"
      demand((trunk.transfer !== undefined) === isDeclared, "`transfers` and `transfer`, or neither", () => `${isDeclared}`, why)
    }
  },
  {
    name: "transfer: a destination that answers talks to the callee, and our hang-up ends the call for both",
    holds: async (scene) => {
      const handed = await given(scene)
      const to = scene.number("stays")
      await handed.begin(to)
      await handed.answered()
      await scene.untilPhone(to, "up", "it has answered")
      await isSeen(scene, handed.engine, handed.call, "up")
      await handed.engine.hangUp(handed.call)
      await handed.over()
      await scene.untilPhone(to, "ended", "it talks to nobody")
      await isDialed(scene, to, 1)
    }
  },
  {
    name: "transfer: a destination that hangs up has ended the call",
    holds: async (scene) => {
      const handed = await given(scene)
      await handed.begin(scene.number("leaves"))
      await handed.wasAnswered()
      await handed.over()
    }
  },
  {
    name: "transfer: from a busy destination the callee comes back, and may be transferred to another one",
    holds: async (scene) => {
      const handed = await given(scene)
      await handed.begin(scene.number("busy"))
      await handed.isBack(["user_busy"])
      await handed.begin(scene.number("stays"))
      await handed.answered()
      await handed.engine.hangUp(handed.call)
      await handed.over()
    }
  },
  {
    name: "transfer: a destination that rings for too long stops ringing, and the callee comes back",
    holds: async (scene) => {
      const handed = await given(scene)
      const to = scene.number("ringsOut")
      await handed.begin(to, { timeoutSeconds: 1 })
      await handed.isBack()
      await scene.untilPhone(to, "ended", "nobody waits for it")
      await handed.engine.hangUp(handed.call)
      await handed.over()
    }
  },
  {
    name: "transfer: our hang-up while the destination rings ends that as well",
    holds: async (scene) => {
      const handed = await given(scene)
      const to = scene.number("ringsOut")
      await handed.begin(to)
      await scene.untilPhone(to, "ringing", "the transfer was taken")
      await handed.engine.hangUp(handed.call)
      await handed.over()
      await scene.untilPhone(to, "ended", "whoever answered it would find nobody there")
    }
  },
  {
    name: "transfer: after a restart while the destination rings, nobody is dialed again, and our hang-up ends it for both",
    holds: async (scene) => {
      const handed = await given(scene)
      const to = scene.number("ringsOut")
      await handed.begin(to)
      await scene.untilPhone(to, "ringing", "the transfer was taken")
      await handed.engine.restart()
      await isSeen(scene, handed.engine, handed.call, "up")
      await handed.engine.hangUp(handed.call, "node_lost")
      await handed.over()
      await scene.untilPhone(to, "ended", "whoever answered it would find nobody there")
      await isDialed(scene, to, 1)
    }
  },
  {
    name: "transfer: without permission nobody is dialed, and the callee stays",
    holds: async (scene) => {
      const handed = await given(scene)
      const to = scene.number("stays")
      const failure = await handed.hand(to, { leave: () => false })
      demand(failure?._tag === "TransferRefused", "TransferRefused", () => inWords(failure), "the callee is still with the agent")
      await isSeen(scene, handed.engine, handed.call, "up")
      await handed.engine.hangUp(handed.call)
      await handed.over()
      await isDialed(scene, to, 0)
    }
  },
  lost(true),
  lost(false)
]
