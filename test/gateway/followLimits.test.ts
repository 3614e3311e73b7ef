/** Connections that follow events: kept alive, ended when nobody reads them, and ended with their credential. The events are artificial. */
import { Effect, Layer, Logger, Stream } from "effect"
import { setTimeout as sleep } from "node:timers/promises"
import t, { type Test } from "tap"
import { WebSocket } from "ws"
import { type Event, EventId } from "#core/event/Event.ts"
import { Events } from "#core/event/Events.ts"
import { type Follower as FedFollower, LiveEvents } from "#core/event/LiveEvents.ts"
import { LiveFeedback } from "#core/run/LiveFeedback.ts"
import { OrganizationId, RunId } from "#core/Id.ts"
import { ApiKeys, InvalidApiKey } from "#core/organization/ApiKeys.ts"
import { AuditLog } from "#core/organization/AuditLog.ts"
import { ApiKeyId, type Caller } from "#core/organization/Caller.ts"
import { CurrentTenant } from "#core/organization/CurrentTenant.ts"
import { InvalidToken } from "#core/organization/Tokens.ts"
import { Users } from "#core/organization/Users.ts"
import { serve } from "#gateway/api.ts"
import { FollowingTimes } from "#gateway/events/followerLimits.ts"
import { proxiesOf } from "#gateway/http/Client.ts"
import { LiveFigures } from "#gateway/events/LiveFigures.ts"
import { mountLiveEvents, socketPath } from "#gateway/events/liveEvents.ts"
import { eventRoutes } from "#gateway/routes/event.ts"
import { untilTrue } from "#test/support/engine.ts"
import { type Follower, followersOf, told } from "./followers.ts"
import { site, started } from "./gatewayTest.ts"

const key = "dgr_follower"
const organizationId = OrganizationId.make(7)
const caller: Caller = { organizationId, apiKeyId: ApiKeyId.make(3), role: "viewer" }

const eventOf = (id: number, filler: string): Event => ({
  id: EventId.make(id),
  organizationId,
  type: "campaign.started",
  subject: `campaigns/${id}`,
  data: { filler },
  createdAt: new Date(0)
})

interface Scene {
  /** The caller that a credential currently belongs to. Undefined if it is not valid. */
  caller: Caller | undefined
  /** Thrown when the credential is looked up. */
  fault: Error | undefined
  /** The organizations on whose behalf it was looked up. */
  readonly lookedUpFor: Array<OrganizationId | undefined>
  /** How many followers have been released. */
  ended: number
}

/** A gateway with one event and then no more, unless `events` provides others. */
const scene = async (t: Test, times: Partial<typeof FollowingTimes.Service>, events?: Stream.Stream<Event>, answerMillis = 30_000) => {
  const state: Scene = { caller, fault: undefined, lookedUpFor: [], ended: 0 }
  const authenticate = Effect.gen(function* () {
    state.lookedUpFor.push(yield* CurrentTenant)
    if (state.fault !== undefined) return yield* Effect.die(state.fault)
    return state.caller ?? (yield* new InvalidApiKey())
  })
  const follow = <E>({ write }: FedFollower<E>): Effect.Effect<never, E> =>
    Stream.runForEachArray(events ?? Stream.make(eventOf(1, "")), write).pipe(
      Effect.andThen(Effect.never),
      Effect.ensuring(
        Effect.sync(() => {
          state.ended += 1
        })
      )
    )
  const ports = Layer.mergeAll(
    Layer.mock(ApiKeys, { remembered: () => undefined, authenticate: () => authenticate }),
    Layer.mock(Users, { isSignupOpen: true, authenticate: () => Effect.fail(new InvalidToken()) }),
    Layer.mock(AuditLog, { record: () => Effect.void }),
    Layer.mock(Events, {}),
    Layer.mock(LiveEvents, { follow: () => Effect.succeed(follow), following: () => 0 }),
    Layer.mock(LiveFigures, {}),
    Layer.succeed(FollowingTimes, {
      heartbeat: "15 seconds",
      idleSeconds: 60,
      longestWait: "30 seconds",
      credentialCheck: "30 seconds",
      ...times
    }),
    Logger.layer([]),
    site
  )
  const feedback = await Effect.runPromise(Effect.provide(LiveFeedback, LiveFeedback.layer))
  const gateway = await started(
    t,
    serve(eventRoutes, { host: "127.0.0.1", port: 0, limits: { answerMillis } }, (app, rates, shedding) =>
      Effect.provideService(mountLiveEvents(app, proxiesOf([]), rates, shedding), LiveFeedback, feedback)
    ).pipe(Layer.provide(ports))
  )
  return { ...followersOf(gateway, key), feedback, port: gateway.port, state }
}

t.test("given somebody who watches a call by websocket, then they see it between the events, and others do not", async (t) => {
  const { feedback, socket } = await scene(t, {})
  const [watching, other, following] = [socket(t, "?run_id=9"), socket(t, "?run_id=8"), socket(t)]
  await Promise.all([watching, other, following].map((one) => told(one, 1)))
  const event = {
    type: "rtf-bot-text",
    payload: { text: "Hello." },
    timestamp: "2026-03-05T15:00:00.100Z",
    turn: 0,
    node_id: "start",
    node_name: "Start"
  } as const
  await untilTrue("what is said", () => {
    feedback.publish(OrganizationId.make(8), RunId.make(9), { ...event, turn: 7 })
    feedback.publish(organizationId, RunId.make(9), event)
    return watching.messages.length >= 2
  })
  t.strictSame(watching.messages[1], { ...event, workflow_run_id: 9 })
  t.strictSame([other.messages.length, following.messages.length], [1, 1])
  const bad = socket(t, "?run_id=nine")
  t.match(await bad.closed, { code: 4400 })
})

t.test("given somebody who follows by websocket, when nothing happens, then pings keep the line, if they are answered", async (t) => {
  const { socket } = await scene(t, { idleSeconds: 8 })
  const [alive, mute] = [socket(t), socket(t, "", { "x-api-key": key }, { autoPong: false })]
  await Promise.all([told(alive, 1), told(mute, 1)])
  t.equal((await mute.closed).code, 1006)
  t.ok(alive.state.pings > 0)
  alive.close()
  t.equal((await alive.closed).code, 1005, "it was open until then")
})

t.test("given somebody who follows by server-sent events, when nothing happens, then comments keep the line", async (t) => {
  const { stream } = await scene(t, { heartbeat: "50 millis" }, undefined, 1000)
  const follower = stream(t)
  await untilTrue("three times as long as a line may be silent", () => follower.state.comments > 60)
  t.strictSame([follower.messages.length, follower.state.isOver], [1, false])
})

/** More than sockets and buffers hold. */
const endless = Stream.range(1, Number.MAX_SAFE_INTEGER).pipe(Stream.map((id) => eventOf(id, "x".repeat(50_000))))

t.test("given a websocket that is not read from, when it has been full for too long, then it is closed with 4408", async (t) => {
  const { socket, state } = await scene(t, { longestWait: "100 millis" }, endless)
  const slow = socket(t)
  await slow.opened
  slow.pause(true)
  await untilTrue("end of the waiting", () => state.ended === 1)
  slow.pause(false)
  t.match(await slow.closed, { code: 4408 })
  isInOrder(t, slow)
})

t.test("given a call that is watched over a full websocket, when it is read from again, then events and what is said go on", async (t) => {
  const { feedback, port } = await scene(t, {}, endless)
  const ws = new WebSocket(`ws://127.0.0.1:${port}${socketPath}?run_id=9`, { headers: { "x-api-key": key } })
  t.teardown(() => ws.terminate())
  // Not judged: to check so much text takes longer than anything here.
  const got = { events: 0, said: 0 }
  ws.on("message", (data: Buffer) => void (data.includes('"rtf-bot-text"') ? got.said++ : got.events++))
  const say = () =>
    feedback.publish(organizationId, RunId.make(9), { type: "rtf-bot-text", payload: {}, timestamp: "2026-03-05T15:00:00.100Z", turn: 0 })
  await untilTrue("what is said", () => {
    say()
    return got.said > 0
  })
  for (let round = 0; round < 3; round++) {
    ws.pause()
    const before = { ...got }
    // It is full by then; if not, this proves less.
    await sleep(300)
    say()
    say()
    await sleep(50)
    ws.resume()
    await untilTrue("both", () => got.said >= before.said + 2 && got.events >= before.events + 1000)
  }
})

t.test("given a stream that is not read from, when it has been full for too long, then it is cut off", async (t) => {
  const { state, stream } = await scene(t, {}, endless, 3000)
  const slow = stream(t)
  await told(slow, 1)
  slow.pause(true)
  await untilTrue("end of the waiting", () => state.ended === 1)
  slow.pause(false)
  await slow.ended()
  t.equal(slow.state.isWhole, false)
  isInOrder(t, slow)
})

/** Checks that the received events are the first ones, in order. */
const isInOrder = (t: Test, { messages }: Follower): void => {
  t.ok(messages.length > 0)
  t.strictSame(
    messages.map(({ id }) => Number(id)),
    messages.map((_, at) => at + 1)
  )
}

for (const way of ["socket", "stream"] as const) {
  const open = async (t: Test) => {
    const { [way]: follow, state } = await scene(t, { credentialCheck: "10 millis" })
    const follower = follow(t)
    await told(follower, 1)
    /** Waits until the credential has been checked a few more times. */
    const checked = async () => {
      const before = state.lookedUpFor.length
      await untilTrue("checks", () => state.lookedUpFor.length > before + 3)
    }
    const over = () => ("closed" in follower ? follower.closed : follower.ended())
    return { checked, over, state }
  }
  const isClosed = (t: Test, how: unknown) => (way === "socket" ? t.match(how, { code: 4401 }) : t.equal(how, true))

  t.test(`given somebody who follows by ${way}, when the credential stays valid, then it is checked again and again`, async (t) => {
    const { checked, state } = await open(t)
    await checked()
    t.equal(state.ended, 0)
    t.strictSame([...new Set(state.lookedUpFor)], [undefined], "beyond the organization, as keys are")
  })

  t.test(`given somebody who follows by ${way}, when the credential moves to another organization, then the connection ends`, async (t) => {
    const { over, state } = await open(t)
    state.caller = { ...caller, organizationId: OrganizationId.make(8) }
    isClosed(t, await over())
  })

  t.test(`given somebody who follows by ${way}, when it cannot be checked for a while, then the connection does not end`, async (t) => {
    const { checked, over, state } = await open(t)
    state.fault = new Error("no database")
    await checked()
    state.fault = undefined
    await checked()
    t.equal(state.ended, 0)
    state.caller = undefined
    isClosed(t, await over())
    await untilTrue("its end", () => state.ended === 1)
  })
}
