/** What a case works with: the adapter, a world, and as many engines as it opens. */
import { type EngineOptions, EngineSide } from "./EngineSide.ts"
import { demand, inWords, NotAsked } from "./Nonconformity.ts"
import { Stage } from "./Stage.ts"
import type { Ability, Callee, Phone, World } from "./World.ts"

export class Scene extends Stage {
  readonly #engines: Array<EngineSide> = []

  /** An engine with a trunk whose status is not known yet. */
  async open(options: EngineOptions = {}): Promise<EngineSide> {
    const engine = await EngineSide.open(this, options)
    this.#engines.push(engine)
    return engine
  }

  /** An engine whose trunk is up. */
  async engine(options: EngineOptions = {}): Promise<EngineSide> {
    const engine = await this.open(options)
    await engine.untilUp()
    return engine
  }

  number(callee: Callee): string {
    return this.#given(callee, this.world.number(callee))
  }

  need<A extends "calleeHertz" | "requested" | "spoil" | "spoilTransfer" | "replyLate" | "refusals" | "holdQueue" | "wrongConfig">(
    ability: A
  ): NonNullable<World[A]> {
    return this.#given(ability, this.world[ability])
  }

  /** One part of what a phone has seen. */
  async phone<P extends Exclude<keyof Phone, "state" | "endedBy">>(number: string, part: P): Promise<NonNullable<Phone[P]>> {
    return this.#given(part, (await this.world.phone(number))[part])
  }

  /**
   * Waits until the phone is in this state. If the world cannot show that, the case does not apply. `meanwhile` gets every state that is seen.
   */
  async untilPhone(
    number: string,
    state: NonNullable<Phone["state"]>,
    why: string,
    meanwhile: (seen: Phone["state"]) => void = () => {}
  ): Promise<void> {
    this.excuse("state")
    let seen: Phone["state"]
    const isThere = async () => {
      seen = (await this.world.phone(number)).state
      meanwhile(seen)
      return seen === state || undefined
    }
    await this.until(`the callee's phone is ${state}`, isThere, () => `a phone that is ${seen ?? "not called"}`, why)
  }

  /** Checks how often the call was requested and how often the phone rang, as far as this world counts. */
  async wasDialed(number: string, times: { readonly requested: number; readonly rung?: number }): Promise<void> {
    const { requested, phone } = this.world
    const counted = { requested: await requested?.(number), rung: (await phone(number)).rung }
    for (const part of ["requested", "rung"] as const) {
      const seen = counted[part]
      if (times[part] === undefined || (seen === undefined && this.world.cannot?.[part] !== undefined)) continue
      demand(
        seen === times[part],
        `${part === "requested" ? "requests for the call" : "calls at the phone"}: ${times[part]}`,
        () => inWords(seen),
        "nobody may be called twice, and nobody may be forgotten"
      )
    }
  }

  /** Checks who ended the call, as the phone saw it. */
  async wasEndedBy(number: string, who: NonNullable<Phone["endedBy"]>): Promise<void> {
    const { endedBy } = await this.world.phone(number)
    if (endedBy === undefined && this.world.cannot?.endedBy !== undefined) return
    demand(
      endedBy === who,
      `the call to be ended by ${who}`,
      () => inWords(endedBy),
      "a call that is not hung up continues to ring or to cost money"
    )
  }

  async close(): Promise<void> {
    for (const engine of this.#engines) await engine.close()
    await this.world.close()
  }

  /** The case does not apply if the world says why it lacks this. */
  excuse(what: Ability | Callee): void {
    const excuse = this.world.cannot?.[what]
    if (excuse !== undefined) throw new NotAsked(excuse)
  }

  #given<A>(what: Ability | Callee, it: A | undefined): NonNullable<A> {
    if (it !== undefined && it !== null) return it
    this.excuse(what)
    throw new Error(`the world has no \`${what}\`: give it one, or say in \`cannot.${what}\` why it cannot have one`)
  }
}
