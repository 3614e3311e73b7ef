/** When the next calls may be originated: the rates of a campaign and of its trunk, kept together. */
import { Context, Layer } from "effect"
import { available, next, type Pace, pace } from "#core/campaign/Pacing.ts"

export interface RateScope {
  /** `campaign:7`, `trunk:3`. */
  readonly key: string
  /** Dial requests per second. */
  readonly rate: number
}

export class CallRate extends Context.Service<
  CallRate,
  {
    /** Epoch milliseconds at which the next call may leave, in the past if it may now. Reserves nothing. */
    readonly earliest: (scopes: ReadonlyArray<RateScope>) => number
    /** How many calls could leave by `now + withinMillis`. */
    readonly available: (scopes: ReadonlyArray<RateScope>, now: number, withinMillis: number) => number
    /** Reserves the next moment that all scopes allow, and names it. */
    readonly reserve: (scopes: ReadonlyArray<RateScope>, now: number) => number
  }
>()("runtime/CallRate") {
  static readonly layerMemory = Layer.sync(CallRate, () => {
    const paces = new Map<string, Pace>()
    const paceOf = ({ key, rate }: RateScope): Pace => {
      const known = paces.get(key)
      return known === undefined ? pace(rate) : { ...known, rate }
    }
    const earliest = (scopes: ReadonlyArray<RateScope>) => Math.max(...scopes.map((scope) => paceOf(scope).nextAt))
    return {
      earliest,
      available: (scopes, now, withinMillis) => Math.min(...scopes.map((scope) => available(paceOf(scope), now, withinMillis))),
      reserve: (scopes, now) => {
        const at = Math.max(now, earliest(scopes))
        for (const scope of scopes) paces.set(scope.key, next(paceOf(scope), at).state)
        return at
      }
    }
  })
}
