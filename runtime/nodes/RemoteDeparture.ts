/** A call's right to leave, where the dispatcher decides: asked for right before the request is sent, and soon lapsed. */
import { type Clock, Deferred, Effect } from "effect"
import { nowOf, type SteadyMillis } from "#core/SteadyTime.ts"
import type { Departure } from "#runtime/dispatch/CallRate.ts"
import { Proof } from "#runtime/lock/Proof.ts"
import { type Answer, GRANT_MILLIS } from "./messages.ts"

interface Asking {
  readonly clock: Clock.Clock
  /** Sends the question. The answer goes to `answered`. */
  readonly ask: () => void
  /** The request is being sent. */
  readonly left: () => void
  /** Returns once changes of telephony configurations that were announced before are in effect here. */
  readonly renewed: Effect.Effect<void>
}

export class RemoteDeparture implements Departure {
  readonly #asking: Asking
  readonly #grant: Proof
  #answer: Deferred.Deferred<Answer> | undefined
  #hasLeft = false
  /** False once the call may never leave. */
  #isWanted = true

  constructor(asking: Asking) {
    this.#asking = asking
    this.#grant = new Proof(asking.clock, GRANT_MILLIS)
  }

  /** The call's permit: it lapses when the dispatcher refuses, or can no longer be asked. */
  readonly holds = (): boolean => this.#isWanted

  readonly readyAt = (): SteadyMillis => nowOf(this.#asking.clock)

  readonly granted = (latest: SteadyMillis): Effect.Effect<boolean> =>
    Effect.gen({ self: this }, function* () {
      while (this.#isWanted && this.readyAt() <= latest) {
        yield* this.#asking.renewed
        let answer: Answer = "no"
        const asked = Effect.map(this.#ask, (given) => {
          answer = given
          return given === "go"
        })
        if (yield* this.#grant.by(asked)) return true
        yield* this.#take(answer)
      }
      return false
    })

  readonly answered = (answer: Answer): void => {
    if (this.#answer !== undefined) Deferred.doneUnsafe(this.#answer, Effect.succeed(answer))
  }

  readonly leave = (): boolean => {
    if (!this.#isWanted || !this.#grant.holds()) return false
    this.#hasLeft = true
    // After the first byte, which it would only delay.
    queueMicrotask(() => {
      if (this.#hasLeft) this.#asking.left()
    })
    return true
  }

  /** The dispatcher takes the next question for this. */
  readonly renew = (): void => {
    this.#hasLeft = false
  }

  readonly giveBack = (): void => {
    if (this.#hasLeft) return
    this.#isWanted = false
    this.answered("no")
  }

  get #ask(): Effect.Effect<Answer> {
    return Effect.suspend(() => {
      this.#answer = Deferred.makeUnsafe()
      this.#asking.ask()
      return Deferred.await(this.#answer)
    })
  }

  #take(answer: Answer): Effect.Effect<void> {
    if (typeof answer === "object") return Effect.sleep(answer.again)
    this.#isWanted = false
    return Effect.void
  }
}
