/**
 * A password check takes a third of a second of processor time, so checks run one at a time, and only a few may wait. Clients whose address
 * has logged in to the same account before go first. After a check for any other client, all such clients wait three times as long as it took,
 * at most 3 s: a flood of them leaves most of that processor to calls. A client that finds no room is refused at once.
 */
import { Context, Effect, Layer, Schema } from "effect"
import * as SteadyTime from "#core/SteadyTime.ts"
import { type Standing, TooManyAttempts } from "./LoginLimit.ts"

/** Too many others are waiting. */
export class PasswordsBusy extends Schema.TaggedError<PasswordsBusy>()("PasswordsBusy", { retryAfterSeconds: Schema.Int }) {}

export interface Who {
  readonly standing: Standing
  /** Only `roomPerKey` requests with the same key are admitted at once. */
  readonly key: string
}

/** Sorted by priority. */
const standings = ["sameAccount", "otherAccount", "noAccount"] as const
const room: Readonly<Record<Standing, number>> = { sameAccount: 30, otherAccount: 20, noAccount: 10 }
const roomPerKey = 3
const retryAfterSeconds = 3
/** The pause after a check, as a multiple of how long it took. */
const restFactor = 3
const longestRestMillis = 3_000

interface Waiting {
  readonly who: Who
  readonly begin: () => void
}

const isRested = ({ standing }: Who) => standing !== "sameAccount"

type Full = TooManyAttempts | PasswordsBusy

export class PasswordTurns extends Context.Service<
  PasswordTurns,
  { readonly take: <A, E, R>(who: Who, work: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Full, R> }
>()("core/organization/PasswordTurns") {
  static readonly layer = Layer.sync(PasswordTurns, () => {
    const queue = new Turns()
    const entered = (who: Who) =>
      Effect.callback<void, Full>((resume) => {
        const refusal = queue.refusalOf(who)
        if (refusal !== undefined) return resume(Effect.fail(refusal))
        const one: Waiting = { who, begin: () => resume(Effect.void) }
        queue.enter(one)
        return Effect.sync(() => queue.giveUp(one))
      })
    const left = (who: Who, began: SteadyTime.SteadyMillis) =>
      Effect.flatMap(SteadyTime.now, (ended) => {
        const rests = isRested(who)
        queue.leave(who, rests)
        if (!rests) return Effect.void
        const rested = Effect.sync(() => queue.rested())
        return Effect.forkDetach(Effect.delay(rested, Math.min(restFactor * (ended - began), longestRestMillis)))
      })
    return {
      take: (who, work) =>
        Effect.uninterruptibleMask((restore) =>
          Effect.andThen(
            restore(entered(who)),
            Effect.flatMap(SteadyTime.now, (began) => Effect.ensuring(restore(work), left(who, began)))
          )
        )
    }
  })
}

class Turns {
  private readonly waiting: Record<Standing, Array<Waiting>> = { sameAccount: [], otherAccount: [], noAccount: [] }
  /** Counts those who wait and the one being served. */
  private readonly perKey = new Map<string, number>()
  private isBusy = false
  private isResting = false

  refusalOf({ key, standing }: Who): Full | undefined {
    if ((this.perKey.get(this.nameOf(standing, key)) ?? 0) >= roomPerKey) return new TooManyAttempts({ retryAfterSeconds: 1 })
    return this.waiting[standing].length >= room[standing] ? new PasswordsBusy({ retryAfterSeconds }) : undefined
  }

  enter(one: Waiting): void {
    this.count(one.who, 1)
    if (this.isBusy || (this.isResting && isRested(one.who))) {
      this.waiting[one.who.standing].push(one)
      return
    }
    this.isBusy = true
    one.begin()
  }

  /** Removes a request that is still waiting. */
  giveUp(one: Waiting): void {
    const others = this.waiting[one.who.standing]
    const at = others.indexOf(one)
    if (at < 0) return
    others.splice(at, 1)
    this.count(one.who, -1)
  }

  /** With `resting`, only `sameAccount` clients are served until `rested`. */
  leave(who: Who, resting: boolean): void {
    this.count(who, -1)
    if (resting) this.isResting = true
    this.isBusy = false
    this.serve()
  }

  rested(): void {
    this.isResting = false
    this.serve()
  }

  private serve(): void {
    if (this.isBusy) return
    const first = standings.find((standing) => this.waiting[standing].length > 0)
    const next = first === undefined || (this.isResting && first !== "sameAccount") ? undefined : this.waiting[first].shift()
    if (next === undefined) return
    this.isBusy = true
    next.begin()
  }

  private count({ key, standing }: Who, by: number): void {
    const name = this.nameOf(standing, key)
    const now = (this.perKey.get(name) ?? 0) + by
    if (now > 0) this.perKey.set(name, now)
    else this.perKey.delete(name)
  }

  private nameOf(standing: Standing, key: string): string {
    return `${standing} ${key}`
  }
}
