/** What becomes of a request that only the engine that decides can answer, judged by what that engine is asked. */
import { Clock, Effect, Fiber, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { ServerResponse } from "node:http"
import t, { type Test } from "tap"
import { DecidingEngine, type PassedRequest, SHUTTING_DOWN } from "#core/node/DecidingEngine.ts"
import { Sealer } from "#core/Sealer.ts"
import { Charge } from "#runtime/lock/Charge.ts"
import { Handover } from "#runtime/lock/Handover.ts"
import { Dispatcher } from "#runtime/nodes/Dispatcher.ts"
import * as PassedRequests from "#runtime/nodes/PassedRequests.ts"
import { secretsKey, sealsOf } from "#runtime/secrets/KeyRing.ts"
import { answeringServer } from "#test/support/answeringServer.ts"
import { freePort } from "#test/support/freePort.ts"
import { run, runLive } from "#test/support/run.ts"
import { untilTrue } from "#test/support/until.ts"

const sealer = sealsOf({ current: secretsKey(new Uint8Array(32).fill(7)), former: [] })
const engine = PassedRequests.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(Charge.layer, Dispatcher.layer, Handover.layer, Layer.succeed(Sealer, sealer)))
)
const request: PassedRequest = {
  address: "203.0.113.9",
  body: Buffer.from('{"a":1}'),
  headers: { "content-type": "application/json", "x-api-key": "a-key" },
  id: "request-1",
  method: "POST",
  path: "/api/v1/campaign/7/start?x=1"
}
const streamed: PassedRequest = { ...request, body: Stream.make(Buffer.from("one "), Buffer.from("two")) }
const at = (port: number) => ({ host: "127.0.0.1", port })

const done = (response: ServerResponse) =>
  response.writeHead(200, { "content-length": "2", "content-type": "application/json", "retry-after": "3" }).end("{}")
/** The other engine, which answers its first requests in turn. */
const other = (t: Test, answers: ReadonlyArray<(response: ServerResponse) => unknown>, port = 0) => {
  const left = [...answers]
  return answeringServer(t, (response) => void (left.shift() ?? done)(response), port)
}
const whole = (status: number, detail: string) => (response: ServerResponse) => {
  response.statusCode = status
  response.end(JSON.stringify({ detail }))
}
const ending = whole(503, SHUTTING_DOWN)
const overloaded = whole(503, "busy")
const cut = (response: ServerResponse) => response.destroy()
const silent = () => undefined

/** What becomes of a request to an engine at this port. */
const passed = (port: number, sent = request) =>
  runLive(
    Effect.gen(function* () {
      ;(yield* Charge).sees(at(port))
      return yield* (yield* DecidingEngine).pass(sent)
    }).pipe(Effect.provide(engine))
  )

t.test("given an engine that decides, then it gets the request as it was made, and its answer comes back", async (t) => {
  for (const [sent, body] of [
    [request, '{"a":1}'],
    [streamed, "one two"]
  ] as const) {
    const { asked, port } = await other(t, [done])
    const reply = {
      body: "{}",
      headers: [
        ["content-type", "application/json"],
        ["retry-after", "3"]
      ],
      status: 200
    }
    t.strictSame(await passed(port, sent), { _tag: "Answered", reply })
    t.match(asked, [
      { body, headers: { ...request.headers, host: "localhost", "x-request-id": "request-1" }, line: `POST ${request.path}` }
    ])
    const clientOf = (id: string) =>
      runLive(
        DecidingEngine.use((_) => Effect.sync(() => _.clientOf(String(asked[0]?.headers["x-trunkline-passed-by"]), id))).pipe(
          Effect.provide(engine)
        )
      )
    t.equal(await clientOf("request-1"), "203.0.113.9", "and it learns the client's address")
    t.equal(await clientOf("request-2"), undefined, "for this request only")
  }
})

t.test("given an answer that may never end, then it comes as it is written, and its end is told when nobody reads any more", async (t) => {
  let over = false
  const { port } = await other(t, [
    (response) => {
      response.on("close", () => void (over = true))
      response.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n")
    }
  ])
  const passage = await passed(port)
  if (passage._tag !== "Answered" || typeof passage.reply.body === "string") throw new Error(passage._tag)
  const { bytes, stream } = passage.reply.body
  t.equal(bytes, undefined)
  const [first] = await runLive(Stream.runCollect(Stream.take(stream, 1)))
  t.equal(Buffer.from(first ?? []).toString(), "data: 1\n\n")
  await untilTrue("its end", () => over)
})

const cases = [
  ["is ending", [ending, done], request, "Answered", 2],
  ["is ending, and has read the body of a stream", [ending], streamed, "Answered", 1],
  ["is overloaded", [overloaded], request, "Answered", 1],
  ["is lost before it answers", [cut], request, "Lost", 1]
] as const
for (const [what, answers, sent, becomes, times] of cases) {
  t.test(`given an engine that ${what}, then it is ${becomes}, and asked ${times} times`, async (t) => {
    const { asked, port } = await other(t, answers)
    t.equal((await passed(port, sent))._tag, becomes)
    t.equal(asked.length, times)
  })
}

t.test("given an engine that does not answer, when another one decides, then nobody knows what became of the request", async (t) => {
  for (const takesOver of ["another", "this"]) {
    const { asked, port } = await other(t, [silent])
    const passage = await runLive(
      Effect.gen(function* () {
        const charge = yield* Charge
        charge.sees(at(port))
        const passing = yield* Effect.forkChild((yield* DecidingEngine).pass(request))
        yield* Effect.promise(() => untilTrue("the request", () => asked.length === 1))
        // It may be cut off from the database for a moment.
        charge.sees(undefined)
        charge.sees(at(port))
        if (takesOver === "this") (yield* Handover).done()
        else charge.sees(at(1))
        return yield* Fiber.join(passing)
      }).pipe(Effect.provide(engine))
    )
    t.strictSame(passage, { _tag: "Lost" }, takesOver)
  }
})

t.test("given no engine that decides, then a request waits for one", async (t) => {
  const { port } = await other(t, [done])
  const becomes = (then: (charge: Charge["Service"], handover: Handover["Service"]) => void) =>
    run(
      Effect.gen(function* () {
        const charge = yield* Charge
        const passing = yield* Effect.forkChild((yield* DecidingEngine).pass(request))
        const from = yield* Clock.currentTimeMillis
        const waits = Effect.gen(function* () {
          while (passing.pollUnsafe() === undefined && (yield* Clock.currentTimeMillis) < from + 60_000) {
            // Sockets take real time.
            yield* Effect.promise(() => new Promise(setImmediate))
            yield* TestClock.adjust("50 millis")
            if ((yield* Clock.currentTimeMillis) === from + 5000) then(charge, yield* Handover)
          }
        })
        yield* waits
        const { _tag } = yield* Fiber.join(passing)
        return [_tag, (yield* Clock.currentTimeMillis) - from >= 15_000]
      }).pipe(Effect.provide(engine))
    )
  t.strictSame(await becomes((charge) => charge.sees(at(port))), ["Answered", false])
  t.strictSame(await becomes((_, { done }) => done()), ["Here", false])
  t.strictSame(await becomes(() => {}), ["Nobody", true])
})

t.test("given an engine that nobody reaches, then the request has not left, and is made once it listens", async (t) => {
  const port = await freePort()
  const passing = passed(port)
  await new Promise((resolve) => setTimeout(resolve, 300))
  const { asked } = await other(t, [done], port)
  t.equal((await passing)._tag, "Answered")
  t.equal(asked.length, 1)
})
