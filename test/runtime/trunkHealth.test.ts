/** Which calls may leave through a trunk that fails, and when, on a manual clock. */
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import t from "tap"
import { CallId } from "#core/Id.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { makeHealth, type TrunkHealth } from "#core/provider/TrunkHealth.ts"
import { run } from "#test/support/run.ts"

const idOf = (index: number) => CallId.make(`01890000-0000-7000-8000-${String(index).padStart(12, "0")}`)

interface Scene {
  /** Its times count from the start of the scene. */
  readonly health: TrunkHealth
  readonly onStatus: ReturnType<typeof makeHealth>["onStatus"]
  readonly now: () => number
  readonly pass: (millis: number) => Effect.Effect<void>
}
const scene = <A>(act: (scene: Scene) => Effect.Effect<A>) =>
  run(
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const begun = SteadyTime.nowOf(clock)
      const made = makeHealth(clock)
      const { onStatus } = made
      onStatus({ _tag: "Up" })
      const health: TrunkHealth = {
        ...made.health,
        trouble: () => {
          const trouble = made.health.trouble()
          return trouble && { ...trouble, failedAt: trouble.failedAt - begun, since: trouble.since - begun, until: trouble.until - begun }
        }
      }
      return yield* act({
        health,
        now: () => SteadyTime.nowOf(clock) - begun,
        onStatus,
        pass: (millis) => TestClock.adjust(millis)
      })
    })
  )
const silence = { answered: false, detail: "no reply", retryAfterMillis: undefined }
const badGateway = (retryAfterMillis?: number) => ({ answered: true, detail: "HTTP 502", retryAfterMillis })
const leaves = (health: TrunkHealth, index: number) => {
  const id = idOf(index)
  if (!health.admit(id) || !health.mayLeave(id)) return false
  health.left(id)
  return true
}
/** Lets `count` calls leave, none of which is answered. */
const doubts = (health: TrunkHealth, from: number, count: number) => {
  for (let i = from; i < from + count; i++) leaves(health, i)
  for (let i = from; i < from + count; i++) health.doubted(idOf(i), silence)
}

t.test("given requests without an answer", async (t) => {
  t.test("two in a row, then the trunk is well; a third, then nobody leaves", async (t) => {
    await scene(({ health }) =>
      Effect.sync(() => {
        doubts(health, 1, 2)
        t.equal(health.trouble(), undefined)
        t.ok(health.admits())
        doubts(health, 3, 1)
        t.match(health.trouble(), { kind: "doubted", failures: 1, since: 0, until: 5000 })
        t.notOk(health.admits())
        t.notOk(health.mayLeave(idOf(9)), "then neither does a call that was claimed before")
      })
    )
  })
  t.test("with one that is answered between them, then they are not in a row", async (t) => {
    await scene(({ health }) =>
      Effect.sync(() => {
        doubts(health, 1, 2)
        leaves(health, 3)
        health.reached(idOf(3))
        doubts(health, 4, 2)
        t.equal(health.trouble(), undefined)
      })
    )
  })
  t.test("one of which rings after all, then they are not in a row either", async (t) => {
    await scene(({ health }) =>
      Effect.sync(() => {
        doubts(health, 1, 2)
        health.heard(idOf(1), { _tag: "Rang" })
        doubts(health, 4, 2)
        t.equal(health.trouble(), undefined)
      })
    )
  })
})

t.test("given a suspect trunk", async (t) => {
  const suspect = <A>(act: (scene: Scene) => Effect.Effect<A>) =>
    scene((scene) => {
      doubts(scene.health, 1, 3)
      return act(scene)
    })
  t.test("when its rest is over, then one call may leave, whoever asks first", async (t) => {
    await suspect(({ health, pass }) =>
      Effect.gen(function* () {
        yield* pass(4999)
        t.notOk(health.admits())
        yield* pass(1)
        t.ok(health.admits())
        t.ok(health.admit(idOf(10)))
        t.notOk(health.admits())
        t.notOk(health.admit(idOf(11)))
        t.notOk(health.mayLeave(idOf(11)))
        t.ok(health.mayLeave(idOf(10)))
        t.notOk(health.admit(idOf(12)))
      })
    )
  })
  t.test("when probes get no answer, then each rest is longer, and starts when that is known", async (t) => {
    const rests = await suspect(({ health, now, pass }) =>
      Effect.gen(function* () {
        const rests: Array<number> = []
        for (let probe = 10; probe < 16; probe++) {
          rests.push((health.trouble()?.until ?? 0) - now())
          yield* pass((health.trouble()?.until ?? 0) - now())
          t.ok(leaves(health, probe))
          yield* pass(15_000)
          health.doubted(idOf(probe), silence)
        }
        t.match(health.trouble(), { failures: 7, since: 0 })
        return rests
      })
    )
    t.strictSame(rests, [5000, 10_000, 20_000, 40_000, 60_000, 60_000])
  })
  t.test("when further errors come back for requests from before, then the rest counts from the last of them", async (t) => {
    await scene(({ health, pass }) =>
      Effect.gen(function* () {
        for (const index of [1, 2, 3]) leaves(health, index)
        health.doubted(idOf(1), badGateway())
        t.match(health.trouble(), { failures: 1, until: 5000 })
        yield* pass(300)
        health.doubted(idOf(2), badGateway())
        t.match(health.trouble(), { failures: 1, until: 5300 })
        yield* pass(300)
        health.unreachable(idOf(3), "ECONNREFUSED")
        t.match(health.trouble(), { failures: 1, until: 5600 })
      })
    )
  })
  t.test(
    "when requests from before are still in flight, then nobody probes until they are settled, and they cost no further rest",
    async (t) => {
      await scene(({ health, pass }) =>
        Effect.gen(function* () {
          leaves(health, 20)
          leaves(health, 21)
          doubts(health, 1, 3)
          yield* pass(6000)
          t.notOk(health.admits())
          health.doubted(idOf(20), silence)
          t.notOk(health.admits())
          health.doubted(idOf(21), silence)
          t.ok(health.admits())
          t.match(health.trouble(), { failures: 1, until: 5000 })
        })
      )
    }
  )
  t.test("when the probe never leaves, then another may", async (t) => {
    await suspect(({ health, pass }) =>
      Effect.gen(function* () {
        yield* pass(5000)
        health.admit(idOf(10))
        health.dismiss(idOf(10))
        health.dismiss(idOf(10))
        t.match(health.trouble(), { failures: 1 })
        t.ok(leaves(health, 11))
      })
    )
  })
  const signs: ReadonlyArray<readonly [string, (health: TrunkHealth) => void]> = [
    ["the probe is accepted", (health) => health.reached(idOf(10))],
    ["the probe rings before its answer", (health) => health.heard(idOf(10), { _tag: "Rang" })],
    ["a call in doubt rings", (health) => health.heard(idOf(2), { _tag: "Rang" })],
    ["a call in doubt ends", (health) => health.heard(idOf(2), { _tag: "HungUp", cause: "user_busy" })]
  ]
  for (const [name, sign] of signs) {
    t.test(`when ${name}, then it is well, and all may leave`, async (t) => {
      await suspect(({ health, pass }) =>
        Effect.gen(function* () {
          yield* pass(5000)
          leaves(health, 10)
          sign(health)
          t.equal(health.trouble(), undefined)
          t.ok(leaves(health, 11) && leaves(health, 12))
        })
      )
    })
  }
  const noSigns: ReadonlyArray<readonly [string, (scene: Scene) => void]> = [
    ["a call from before its trouble goes on", ({ health }) => health.heard(idOf(99), { _tag: "Answered" })],
    ["a call in doubt is missing after a reconnect", ({ health }) => health.heard(idOf(2), { _tag: "HungUp", cause: "trunk_lost" })],
    ["its socket comes back", ({ onStatus }) => onStatus({ _tag: "Up" })]
  ]
  for (const [name, noSign] of noSigns) {
    t.test(`when ${name}, then it stays suspect`, async (t) => {
      await suspect((scene) =>
        Effect.sync(() => {
          noSign(scene)
          t.match(scene.health.trouble(), { failures: 1, since: 0 })
        })
      )
    })
  }
  t.test("when its socket flaps, then it is probed earlier, but at most once a minute, and the trouble keeps its age", async (t) => {
    const probes = await suspect(({ health, now, onStatus, pass }) =>
      Effect.gen(function* () {
        const probes: Array<number> = []
        for (let i = 0; i < 60; i++) {
          onStatus({ _tag: "Down", reason: "unreachable", detail: "cut" })
          onStatus({ _tag: "Up" })
          if (leaves(health, 100 + i)) {
            probes.push(now())
            health.doubted(idOf(100 + i), silence)
          }
          yield* pass(3000)
        }
        t.match(health.trouble(), { since: 0 })
        return probes
      })
    )
    t.ok(probes.length <= 7, `${probes}`)
  })
})

t.test(
  "given an error as the answer, then the trunk rests at once, at least as long as the provider asks for, up to the limit",
  async (t) => {
    const check = async (retryAfterMillis: number | undefined, until: number) => {
      await scene(({ health }) =>
        Effect.sync(() => {
          leaves(health, 1)
          health.doubted(idOf(1), badGateway(retryAfterMillis))
          t.match(health.trouble(), { failures: 1, kind: "doubted", until })
        })
      )
      await scene(({ health }) =>
        Effect.sync(() => {
          leaves(health, 1)
          health.rateLimited(idOf(1), retryAfterMillis, "HTTP 429")
          t.match(health.trouble(), { failures: 1, kind: "limited", until })
        })
      )
    }
    await check(undefined, 5000)
    await check(1000, 5000)
    await check(7000, 7000)
    await check(86_400_000, 300_000)
    await check(-5, 5000)
  }
)

t.test("given a provider that asks for fewer calls", async (t) => {
  t.test("in several answers at once, then that is one failure, and the longest rest", async (t) => {
    await scene(({ health }) =>
      Effect.sync(() => {
        for (const index of [1, 2, 3, 4]) leaves(health, index)
        health.rateLimited(idOf(1), 7000, "HTTP 429")
        health.rateLimited(idOf(2), 9000, "HTTP 429")
        health.rateLimited(idOf(3), undefined, "HTTP 429")
        t.match(health.trouble(), { failures: 1, until: 9000 })
        health.reached(idOf(4))
        t.match(health.trouble(), { failures: 1, until: 9000 }, "then a call that it accepted before does not end the rest")
      })
    )
  })
  t.test("and is resumed by a person, then it gets the rest it asked for", async (t) => {
    await scene(({ health }) =>
      Effect.sync(() => {
        leaves(health, 1)
        health.rateLimited(idOf(1), 30_000, "HTTP 429")
        health.hurry()
        t.match(health.trouble(), { until: 30_000 })
      })
    )
  })
})

t.test("given a request that did not get through, when a person resumes, then it is tried at once, but not again and again", async (t) => {
  await scene(({ health, pass }) =>
    Effect.gen(function* () {
      leaves(health, 1)
      health.unreachable(idOf(1), "HTTP 500")
      t.notOk(health.admits())
      health.hurry()
      t.ok(leaves(health, 2))
      health.unreachable(idOf(2), "HTTP 500")
      yield* pass(1000)
      health.hurry()
      t.notOk(health.admits())
      t.match(health.trouble(), { failures: 2, since: 0 })
    })
  )
})

t.test("given anything that can happen, then while the trunk is not well at most one call leaves between two verdicts", async () => {
  const act = fc.oneof(
    fc.record({ what: fc.constantFrom("leave", "reach", "doubt", "refuse", "limit", "dismiss", "ring"), call: fc.nat(12) }),
    fc.record({ what: fc.constantFrom("pass", "up", "hurry"), call: fc.nat(70_000) })
  )
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 80, size: "max" }), (acts) =>
      scene(({ health, onStatus, pass }) =>
        Effect.gen(function* () {
          const flying = new Set<number>()
          const used = new Set<number>()
          for (const { call, what } of acts) {
            if (what === "pass") yield* pass(call)
            else if (what === "up") onStatus({ _tag: "Up" })
            else if (what === "hurry") health.hurry()
            else if (what === "leave" && !used.has(call)) {
              const wasWell = health.trouble() === undefined
              if (!leaves(health, call)) continue
              used.add(call)
              if (!wasWell && flying.size > 0) throw new Error("a probe left while another request was in flight")
              flying.add(call)
            } else if (flying.has(call)) {
              const id = idOf(call)
              if (what === "reach") health.reached(id)
              if (what === "doubt") health.doubted(id, silence)
              if (what === "refuse") health.unreachable(id, "HTTP 500")
              if (what === "limit") health.rateLimited(id, undefined, "HTTP 429")
              if (what === "dismiss") health.dismiss(id)
              if (what === "ring") health.heard(id, { _tag: "Rang" })
              if (what !== "ring" && what !== "leave") flying.delete(call)
            }
          }
        })
      )
    ),
    { numRuns: 300 }
  )
})
