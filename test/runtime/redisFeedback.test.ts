/** Who watches a call at one engine hears of it wherever it is, and hears everything once. */
import { Context, Effect, Fiber, Layer, Stream } from "effect"
import t, { type Test } from "tap"
import { OrganizationId, RunId } from "#core/Id.ts"
import { LiveFeedback } from "#core/run/LiveFeedback.ts"
import type { FeedbackEvent } from "#core/run/RunRecord.ts"
import * as CallNode from "#runtime/nodes/CallNode.ts"
import { Dispatcher } from "#runtime/nodes/Dispatcher.ts"
import type { FromNode } from "#runtime/nodes/messages.ts"
import { redisUnavailable, startRedis } from "#test/support/redis.ts"
import { connectedEngine } from "#test/support/redisEngine.ts"
import { untilTrue } from "#test/support/until.ts"

const skip = (await redisUnavailable()) ?? false
const [ours, theirs] = [OrganizationId.make(1), OrganizationId.make(2)]
const [runId, unwatched] = [RunId.make(7), RunId.make(8)]

const eventOf = (text: string): FeedbackEvent => ({ type: "rtf-bot-text", payload: { text }, timestamp: "", turn: 1 })
const textOf = ({ payload }: FeedbackEvent): string => String(payload?.["text"])

const engineOf = async (t: Test, url: string) => {
  const { context, isUp, service } = await connectedEngine(t, url, CallNode.feedbackLayer.pipe(Layer.provideMerge(Dispatcher.layer)))
  const [feedback, dispatcher] = [Context.get(context, LiveFeedback), Context.get(context, Dispatcher)]
  return {
    dispatcher,
    isUp,
    says: (text: string, run = runId) => feedback.publish(ours, run, eventOf(text)),
    heard: feedback.heard,
    service,
    /** What somebody who watches the run at this engine gets. */
    watching: (organizationId = ours) => {
      const got: Array<string> = []
      const fiber = Effect.runFork(
        Stream.runForEach(feedback.watch(organizationId, runId), (event) => Effect.sync(() => got.push(textOf(event))))
      )
      const leave = () => Effect.runPromise(Fiber.interrupt(fiber))
      t.teardown(leave)
      return { got, leave }
    }
  }
}
type Engine = Awaited<ReturnType<typeof engineOf>>

/** Says something until it is heard, which takes until the engine knows that somebody watches. */
const begun = async (engine: Engine, ...all: ReadonlyArray<{ readonly got: Array<string> }>) => {
  await untilTrue("begin", () => {
    engine.says("begin")
    return all.every(({ got }) => got.includes("begin"))
  })
  engine.says("begun")
  await untilTrue("all of it", () => all.every(({ got }) => got.includes("begun")))
  for (const { got } of all) got.length = 0
}

t.test("given a call at one engine", { skip }, async (t) => {
  const server = await startRedis(t)
  const [carrier, front, dispatching] = [await engineOf(t, server.url), await engineOf(t, server.url), await engineOf(t, server.url)]
  /** What the carrier says over its link to the dispatching engine. */
  const linked: Array<string> = []
  carrier.dispatcher.follow((message: FromNode) => {
    if (message._tag !== "Feedback") return
    linked.push(textOf(message.event))
    dispatching.heard(message.organizationId, message.runId, message.event)
  })

  t.test("when it is watched at all engines, then each watcher gets everything once, and in order", async (t) => {
    const watchers = [carrier.watching(), front.watching(), front.watching(), dispatching.watching()]
    const stranger = front.watching(theirs)
    const overheard: Array<string> = []
    await carrier.service.subscribe(`feedback:${ours}:${unwatched}`, (text) => overheard.push(text)).begun
    await front.service.subscribe(`feedback:${ours}:${unwatched}`, (text) => overheard.push(text)).begun
    carrier.dispatcher.watch({ _tag: "Watch", isWatched: true, organizationId: ours, runId })
    await begun(carrier, ...watchers)
    linked.length = 0
    const texts = Array.from({ length: 200 }, (_, at) => `entry ${at}`)
    for (const text of texts) {
      carrier.says(text)
      carrier.says(text, unwatched)
    }
    await untilTrue("all entries", () => watchers.every(({ got }) => got.includes("entry 199")))
    for (const { got } of watchers) t.strictSame(got, texts)
    t.strictSame(linked, [], "not over the link as well")
    t.strictSame([stranger.got, overheard], [[], []], "and nobody else gets anything")
    for (const { leave } of [...watchers, stranger]) await leave()
  })

  t.test("when Redis is away, then the link is the way; and when it is back, it is again", async (t) => {
    const watcher = dispatching.watching()
    carrier.dispatcher.watch({ _tag: "Watch", isWatched: true, organizationId: ours, runId })
    await begun(carrier, watcher)
    await server.stop()
    await untilTrue("notice", () => !carrier.isUp())
    linked.length = 0
    for (const text of ["one", "two", "three"]) carrier.says(text)
    await untilTrue("the entries", () => watcher.got.includes("three"))
    t.strictSame(
      [watcher.got, linked],
      [
        ["one", "two", "three"],
        ["one", "two", "three"]
      ]
    )
    await server.start()
    await untilTrue("return", () => carrier.isUp() && dispatching.isUp())
    let said = 0
    await untilTrue("an entry by Redis", () => {
      linked.length = 0
      carrier.says(`again ${said++}`)
      return linked.length === 0
    })
    await untilTrue("the last entry", () => watcher.got.includes(`again ${said - 1}`))
    t.strictSame(
      watcher.got.slice(3),
      Array.from({ length: said }, (_, at) => `again ${at}`),
      "everything once"
    )
    await watcher.leave()
    await untilTrue("nothing more by Redis", () => {
      linked.length = 0
      carrier.says("for nobody")
      return linked.length === 1
    })
  })
})
