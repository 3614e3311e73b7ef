/** Which calls may leave through a trunk that fails, and when, on a manual clock. */
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import t, { type Test } from "tap"
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
  run(function* () {
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

/** What happens on a trunk without the passage of time. */
const moment = (title: string, act: (health: TrunkHealth, t: Test) => void) =>
  t.test(title, (t) => scene(({ health }) => Effect.sync(() => act(health, t))))
type Story = (scene: Scene, t: Test) => Effect.gen.Return<void>
const story = (title: string, act: Story, arrange: (health: TrunkHealth) => void = () => {}) =>
  t.test(title, (t) =>
    scene((it) => {
      arrange(it.health)
      return Effect.gen(() => act(it, t))
    })
  )
/** On a trunk whose first three requests got no answer. */
const suspect = (title: string, act: Story) => story(`given a suspect trunk, ${title}`, act, (health) => doubts(health, 1, 3))

moment("given two requests in a row without an answer, then the trunk is well; a third, then nobody leaves", (health, t) => {
  doubts(health, 1, 2)
  t.equal(health.trouble(), undefined)
  t.ok(health.admits())
  doubts(health, 3, 1)
  t.match(health.trouble(), { kind: "doubted", failures: 1, since: 0, until: 5000 })
  t.notOk(health.admits())
  t.notOk(health.mayLeave(idOf(9)), "then neither does a call that was claimed before")
})
const between: ReadonlyArray<readonly [string, (health: TrunkHealth) => void]> = [
  ["one that is answered between them", (health) => leaves(health, 3) && health.reached(idOf(3))],
  ["one of which rings after all", (health) => health.heard(idOf(1), { _tag: "Rang" })]
]
for (const [what, happens] of between)
  moment(`given requests without an answer, ${what}, then they are not in a row`, (health, t) => {
    doubts(health, 1, 2)
    happens(health)
    doubts(health, 4, 2)
    t.equal(health.trouble(), undefined)
  })

suspect("when its rest is over, then one call may leave, whoever asks first", function* ({ health, pass }, t) {
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
suspect("when probes get no answer, then each rest is longer, and starts when that is known", function* ({ health, now, pass }, t) {
  for (const [index, rest] of [5000, 10_000, 20_000, 40_000, 60_000, 60_000].entries()) {
    t.equal((health.trouble()?.until ?? 0) - now(), rest)
    yield* pass(rest)
    t.ok(leaves(health, 10 + index))
    yield* pass(15_000)
    health.doubted(idOf(10 + index), silence)
  }
  t.match(health.trouble(), { failures: 7, since: 0 })
})
story(
  "given requests in flight, when all come back as errors, then that is one failure, and the rest begins with the last",
  function* ({ health, pass }, t) {
    for (const index of [1, 2, 3]) leaves(health, index)
    health.doubted(idOf(1), badGateway())
    t.match(health.trouble(), { failures: 1, until: 5000 })
    yield* pass(300)
    health.doubted(idOf(2), badGateway())
    t.match(health.trouble(), { failures: 1, until: 5300 })
    yield* pass(300)
    health.unreachable(idOf(3), "ECONNREFUSED")
    t.match(health.trouble(), { failures: 1, until: 5600 })
  }
)
story(
  "given a suspect trunk, when earlier requests are in flight, then it is probed at once when they are settled",
  function* ({ health, pass }, t) {
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
  }
)
suspect("when the probe never leaves, then another may", function* ({ health, pass }, t) {
  yield* pass(5000)
  health.admit(idOf(10))
  health.dismiss(idOf(10))
  health.dismiss(idOf(10))
  t.match(health.trouble(), { failures: 1 })
  t.ok(leaves(health, 11))
})
const signs: ReadonlyArray<readonly [string, (health: TrunkHealth) => void]> = [
  ["the probe is accepted", (health) => health.reached(idOf(10))],
  ["the probe rings before its answer", (health) => health.heard(idOf(10), { _tag: "Rang" })],
  ["a call in doubt rings", (health) => health.heard(idOf(2), { _tag: "Rang" })],
  ["a call in doubt ends", (health) => health.heard(idOf(2), { _tag: "HungUp", cause: "user_busy" })]
]
for (const [name, sign] of signs)
  suspect(`when ${name}, then it is well, and all may leave`, function* ({ health, pass }, t) {
    yield* pass(5000)
    leaves(health, 10)
    sign(health)
    t.equal(health.trouble(), undefined)
    t.ok(leaves(health, 11) && leaves(health, 12))
  })
const noSigns: ReadonlyArray<readonly [string, (scene: Scene) => void]> = [
  ["a call from before its trouble goes on", ({ health }) => health.heard(idOf(99), { _tag: "Answered" })],
  ["a call in doubt is missing after a reconnect", ({ health }) => health.heard(idOf(2), { _tag: "HungUp", cause: "trunk_lost" })],
  ["its socket comes back", ({ onStatus }) => onStatus({ _tag: "Up" })]
]
for (const [name, noSign] of noSigns)
  suspect(`when ${name}, then it stays suspect`, function* (scene, t) {
    yield* scene.pass(0)
    noSign(scene)
    t.match(scene.health.trouble(), { failures: 1, since: 0 })
  })
suspect(
  "when its socket flaps, then it is probed earlier, but at most once a minute, and the trouble keeps its age",
  function* ({ health, now, onStatus, pass }, t) {
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
    t.ok(probes.length <= 7, `${probes}`)
  }
)

const asked: ReadonlyArray<readonly [retryAfterMillis: number | undefined, until: number]> = [
  [undefined, 5000],
  [1000, 5000],
  [7000, 7000],
  [86_400_000, 300_000],
  [-5, 5000]
]
for (const [retryAfterMillis, until] of asked) {
  const check = (kind: string, told: (health: TrunkHealth) => void) =>
    moment(
      `given ${kind} as the answer that asks for ${retryAfterMillis} ms, then the trunk rests at once for ${until} ms`,
      (health, t) => {
        leaves(health, 1)
        told(health)
        t.match(health.trouble(), { failures: 1, kind, until })
      }
    )
  check("doubted", (health) => health.doubted(idOf(1), badGateway(retryAfterMillis)))
  check("limited", (health) => health.rateLimited(idOf(1), retryAfterMillis, "HTTP 429"))
}

moment(
  "given a provider that asks for fewer calls in several answers at once, then that is one failure, and the longest rest",
  (health, t) => {
    for (const index of [1, 2, 3, 4]) leaves(health, index)
    health.rateLimited(idOf(1), 7000, "HTTP 429")
    health.rateLimited(idOf(2), 9000, "HTTP 429")
    health.rateLimited(idOf(3), undefined, "HTTP 429")
    t.match(health.trouble(), { failures: 1, until: 9000 })
    health.reached(idOf(4))
    t.match(health.trouble(), { failures: 1, until: 9000 }, "then a call that it accepted before does not end the rest")
  }
)
moment("given a provider that asks for fewer calls, when a person resumes, then it gets the rest it asked for", (health, t) => {
  leaves(health, 1)
  health.rateLimited(idOf(1), 30_000, "HTTP 429")
  health.hurry()
  t.match(health.trouble(), { until: 30_000 })
})
story(
  "given a request that did not get through, when a person resumes, then it is tried at once, but not time and again",
  function* ({ health, pass }, t) {
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
  }
)

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
