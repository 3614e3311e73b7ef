/** Requests that come together: how many answers are made for them, and when each was begun. */
import { Deferred, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import t from "tap"
import Type from "typebox"
import { OrganizationId } from "#core/Id.ts"
import type { Role } from "#core/organization/Role.ts"
import { json, type Reply } from "#gateway/http/Endpoint.ts"
import { route } from "#gateway/request/Route.ts"
import { together } from "#gateway/request/together.ts"
import { test } from "#test/core/effectTest.ts"

const GATHERED = "1 second"
const TOO_LONG = "1 minute"

/** A route whose answers tell which of them they are. Each ends when it is let go, or at once. */
const scene = () => {
  const state = { begun: 0, holds: [] as Array<Deferred.Deferred<void>> }
  const { around } = together(
    route({ method: "get", path: "/x", name: "x", summary: "", description: "", success: Type.Unknown(), handle: () => Effect.void })
  )
  const made: Effect.Effect<Reply> = Effect.suspend(() => {
    state.begun++
    const reply = json(200, state.begun)
    const hold = Deferred.makeUnsafe<void>()
    state.holds.push(hold)
    return Effect.as(Deferred.await(hold), reply)
  })
  const ask = (organization = 1, role: Role = "viewer", campaign = 1, reply = made) => {
    const given = {
      caller: { organizationId: OrganizationId.make(organization), role },
      params: { campaign_id: campaign },
      query: {},
      headers: {},
      body: undefined,
      client: { address: "" }
    }
    // Only the properties above are read.
    const asked = around?.(given as Parameters<NonNullable<typeof around>>[0], reply, {}) ?? Effect.die("no answer")
    return Effect.forkChild(asked, { startImmediately: true })
  }
  const letGo = (which: number) => Effect.sync(() => void Deferred.doneUnsafe(state.holds[which] ?? Deferred.makeUnsafe<void>(), Exit.void))
  const bodyOf = (fiber: Fiber.Fiber<Reply>) => Effect.map(Fiber.join(fiber), ({ body }) => body)
  return { ask, bodyOf, letGo, state }
}

test(
  t,
  "given requests that come while one is answered, then they get the next answer together, and it is begun after they came",
  function* (t) {
    const { ask, bodyOf, letGo, state } = scene()
    const first = yield* ask()
    const others = yield* Effect.replicateEffect(ask(), 99)
    yield* letGo(0)
    t.equal(yield* bodyOf(first), "1")
    const later = yield* ask()
    yield* TestClock.adjust(GATHERED)
    const last = yield* ask()
    yield* letGo(1)
    t.strictSame(new Set(yield* Effect.forEach([...others, later], bodyOf)), new Set(["2"]), "those who came before it began")
    yield* TestClock.adjust(GATHERED)
    yield* letGo(2)
    t.equal(yield* bodyOf(last), "3", "and who came afterwards got one that began after that")
    t.equal(state.begun, 3)
  }
)

test(t, "given requests one after another, then each is answered at once", function* (t) {
  const { ask, bodyOf, letGo } = scene()
  for (const which of [0, 1, 2]) {
    const asked = yield* ask()
    yield* letGo(which)
    t.equal(yield* bodyOf(asked), String(which + 1))
  }
})

test(t, "given another organization, role or address, then the answer is its own", function* (t) {
  const { ask, bodyOf, letGo, state } = scene()
  const all = [yield* ask(), yield* ask(2), yield* ask(1, "member"), yield* ask(1, "viewer", 2)]
  t.equal(state.begun, 4)
  yield* Effect.forEach([0, 1, 2, 3], letGo)
  t.strictSame(yield* Effect.forEach(all, bodyOf), ["1", "2", "3", "4"])
})

test(t, "given the first client goes away, then those who wait are answered, and so are those who come later", function* (t) {
  const { ask, bodyOf, letGo } = scene()
  const first = yield* ask()
  const second = yield* ask()
  yield* Fiber.interrupt(first)
  yield* letGo(0)
  yield* TestClock.adjust(GATHERED)
  yield* letGo(1)
  t.equal(yield* bodyOf(second), "2")
  const third = yield* ask()
  yield* letGo(2)
  t.equal(yield* bodyOf(third), "3")
})

test(t, "given an answer that fails, then who asked for it is told, and the next one is made", function* (t) {
  const { ask, bodyOf, letGo, state } = scene()
  const first = yield* ask(1, "viewer", 1, Effect.die("lost"))
  t.ok(Exit.isFailure(yield* Fiber.await(first)))
  const second = yield* ask()
  yield* letGo(0)
  t.equal(yield* bodyOf(second), "1")
  t.equal(state.begun, 1)
})

test(t, "given an answer that never comes, then who waits is told so, and the next one is made", function* (t) {
  const { ask, bodyOf, letGo } = scene()
  const first = yield* ask()
  const second = yield* ask()
  yield* TestClock.adjust(TOO_LONG)
  yield* letGo(1)
  t.match(yield* Fiber.join(first), { status: 503 })
  t.equal(yield* bodyOf(second), "2")
})
