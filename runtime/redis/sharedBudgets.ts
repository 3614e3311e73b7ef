/**
 * Budgets that engines share: each tells Redis what it has spent, at most every 100 ms and only if it has, and learns from the answer what is spent
 * in all. Decisions never wait for it. Engines tell amounts and not what is left, so that none overwrites what another one has spent; what is
 * granted again is computed from the time of Redis. A key that was wiped begins with what the first engine that comes knows of it.
 */
import { Effect, Latch, Layer } from "effect"
import { createHash } from "node:crypto"
import { type SharedBudget, SharedBudgets, type Spending } from "#core/organization/SharedBudgets.ts"
import { script } from "./Link.ts"
import { Redis } from "./Redis.ts"

const PAUSE = "100 millis"
/** Of one budget at once: a flood of addresses takes Redis a few milliseconds at a time. */
const MOST_KEYS = 500
/**
 * A key lasts until everything is granted again, and then for a second. One of which something was given back lasts for ten minutes more, so that
 * nobody brings it back who still knows the former amount.
 */
const spending = script(`
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local answer = {}
for at, key in ipairs(KEYS) do
  local amount, before, every = tonumber(ARGV[3 * at - 2]), tonumber(ARGV[3 * at - 1]), tonumber(ARGV[3 * at])
  local spent = before
  local kept = redis.call("GET", key)
  if kept then
    local was, since = string.match(kept, "^(%S+) (%d+)$")
    spent = math.max(0, tonumber(was) - math.max(0, now - tonumber(since)) / every)
  end
  spent = math.max(0, spent + amount)
  local lasts = math.ceil(spent * every) + (amount < 0 and 600000 or 1000)
  local text = string.format("%.17g", spent)
  redis.call("SET", key, text .. string.format(" %.0f", now), "PX", lasts)
  answer[at] = text
end
return answer`)

/** Addresses of people and of their machines stay here. */
const hidden = (key: string): string => createHash("sha256").update(key).digest("base64url").slice(0, 22)

export const layer = Layer.effect(
  SharedBudgets,
  Effect.gen(function* () {
    const redis = yield* Redis
    if (redis.state()._tag === "Off") return { share: () => undefined }
    const budgets: Array<readonly [name: string, SharedBudget]> = []
    const isSpent = yield* Latch.make(false)
    const tell = Effect.fnUntraced(function* (name: string, budget: SharedBudget) {
      const taken = budget.take(MOST_KEYS)
      if (taken.length === 0) return
      const names = taken.map(({ key }) => `${name}:${hidden(key)}`)
      const args = taken.flatMap(({ amount, before, everyMillis }) => [amount, before, everyMillis])
      const answer = yield* redis.evaluate(spending, "budgets", names, args)
      learn(budget, taken, answer)
      if (taken.length === MOST_KEYS) yield* isSpent.open
    })
    yield* Effect.gen(function* () {
      yield* isSpent.await
      // Not within what spends.
      yield* Effect.yieldNow
      if (redis.state()._tag === "Up") {
        yield* isSpent.close
        yield* Effect.forEach(budgets, ([name, budget]) => Effect.ignore(tell(name, budget)), { concurrency: "unbounded", discard: true })
      }
      yield* Effect.sleep(PAUSE)
    }).pipe(
      Effect.forever,
      Effect.tapCause((cause) => Effect.logError("budgets are no longer shared", cause)),
      Effect.forkScoped
    )
    return {
      share: (name: string, budget: SharedBudget) => {
        budgets.push([name, budget])
        return () => void isSpent.openUnsafe()
      }
    }
  })
)

const learn = (budget: SharedBudget, taken: ReadonlyArray<Spending>, answer: unknown): void => {
  if (!Array.isArray(answer)) return
  for (const [at, { key }] of taken.entries()) {
    const spent = Number(answer[at])
    if (Number.isFinite(spent)) budget.learn(key, spent)
  }
}
