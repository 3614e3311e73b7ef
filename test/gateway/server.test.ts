import { Deferred, Effect, Stream } from "effect"
import { connect } from "node:net"
import t from "tap"
import Type from "typebox"
import { untilTrue } from "#test/support/until.ts"
import { download, route, upload } from "#gateway/request/Route.ts"
import { abandon, type Logged, raw, send, serving } from "./gatewayTest.ts"

const Echo = Type.Object({ text: Type.String() })
// The cast is wrong on purpose: the value does not have its type.
const oddly = { text: "a" } as unknown as { text: number }
const common = { name: "x", summary: "", description: "", access: "none" } as const

const hello = route({
  ...common,
  method: "get",
  path: "/hello/:name",
  params: Type.Object({ name: Type.String() }),
  query: Type.Object({ loud: Type.Boolean({ default: false }) }),
  success: Echo,
  handle: ({ params, query }) => Effect.succeed({ text: query.loud ? params.name.toUpperCase() : params.name })
})
const list = route({ ...common, method: "get", path: "/list/", success: Echo, handle: () => Effect.succeed({ text: "list" }) })
const echo = route({ ...common, method: "post", path: "/echo", body: Echo, success: Echo, handle: ({ body }) => Effect.succeed(body) })
const count = upload({
  ...common,
  method: "put",
  path: "/count",
  mediaTypes: ["text/csv"],
  maxBytes: 10_485_760,
  success: Type.Object({ bytes: Type.Integer() }),
  errors: ["BodyTooLarge"],
  handle: ({ body }) =>
    Stream.runFold(
      body,
      () => 0,
      (sum, chunk) => sum + chunk.byteLength
    ).pipe(Effect.map((bytes) => ({ bytes })))
})

t.test("given a gateway with a few routes", async (t) => {
  const gateway = await serving(t, [hello, list, echo, count])

  t.test("when a path has parameters and a query, then they are decoded and read", async (t) => {
    t.strictSame((await send(gateway, "GET", "/hello/J%C3%BCrgen%2F?loud=yes")).json, { text: "JÜRGEN/" })
    t.strictSame((await send(gateway, "GET", "/hello/100%25%zz")).json, { text: "100%25%zz" })
    t.strictSame((await send(gateway, "GET", "/hello/a?loud=1&loud=0")).json, { text: "a" })
  })

  t.test("when asked with HEAD, then the head of the GET comes without a body", async (t) => {
    const answer = await send(gateway, "HEAD", "/hello/ada")
    t.equal(answer.status, 200)
    t.equal(answer.headers["content-length"], String(JSON.stringify({ text: "ada" }).length))
    t.equal(answer.text, "")
  })

  t.test("when there is no such path, then 404", async (t) => {
    for (const path of ["/", "/nope", "/hello/", "/hello/a/b", "/list/x"]) {
      const answer = await send(gateway, "GET", path)
      t.strictSame([answer.status, answer.json], [404, { detail: "Not Found" }], path)
    }
  })

  t.test("when the method is not supported, then 405 with the allowed ones", async (t) => {
    const answer = await send(gateway, "DELETE", "/hello/ada")
    t.strictSame([answer.status, answer.json, answer.headers["allow"]], [405, { detail: "Method Not Allowed" }, "GET, HEAD"])
    t.equal((await send(gateway, "GET", "/echo")).headers["allow"], "POST")
    t.equal((await send(gateway, "PURGE", "/echo")).status, 405)
  })

  t.test("when the final slash is missing or superfluous, then 307 to the declared path", async (t) => {
    const missing = await send(gateway, "GET", "/list?a=1&b=2")
    t.strictSame([missing.status, missing.headers["location"]], [307, "/list/?a=1&b=2"])
    const tooMany = await send(gateway, "POST", "/echo/")
    t.strictSame([tooMany.status, tooMany.headers["location"]], [307, "/echo"])
  })

  t.test("when anything is answered, then it carries a request id and the security headers", async (t) => {
    const answer = await send(gateway, "GET", "/nope", { headers: { "x-request-id": "abc-1" } })
    t.equal(answer.headers["x-request-id"], "abc-1")
    t.equal(answer.headers["x-content-type-options"], "nosniff")
    t.equal(answer.headers["cache-control"], "no-store")
    t.match((await send(gateway, "GET", "/hello/a", { headers: { "x-request-id": "bad id" } })).headers["x-request-id"], /^[0-9a-f-]{36}$/)
  })

  t.test("when a JSON body without a credential is larger than 16 KiB, then 413, whether or not its length is declared", async (t) => {
    const text = "a".repeat(16_384)
    t.strictSame((await send(gateway, "POST", "/echo", { json: { text } })).json, { detail: "The request body is larger than 16384 bytes" })
    t.equal((await send(gateway, "POST", "/echo", { json: { text }, headers: { "transfer-encoding": "chunked" } })).status, 413)
    t.equal((await send(gateway, "POST", "/echo", { json: { text: "a".repeat(16_000) } })).status, 200)
  })

  t.test("when a body comes in chunks, then it is read completely", async (t) => {
    t.strictSame((await send(gateway, "POST", "/echo", { json: { text: "é" }, headers: { "transfer-encoding": "chunked" } })).json, {
      text: "é"
    })
  })

  t.test("when an upload has 10 MiB, then it arrives complete; one byte more is 413", async (t) => {
    const bytes = new Uint8Array(10_485_760)
    t.strictSame((await send(gateway, "PUT", "/count", { body: bytes })).json, { bytes: 10_485_760 })
    const more = new Uint8Array(10_485_761)
    t.equal((await send(gateway, "PUT", "/count", { body: more })).status, 413)
    t.strictSame((await send(gateway, "PUT", "/count", { body: more, headers: { "transfer-encoding": "chunked" } })).json, {
      detail: "The request body is larger than 10485760 bytes"
    })
  })

  t.test("when the request is not HTTP, then the connection ends and the server continues", async (t) => {
    t.match(await raw(gateway, "nonsense\r\n\r\n"), /^$|^HTTP\/1\.1 (400|505)/)
    t.match(await raw(gateway, `GET /hello/a HTTP/1.1\r\nhost: x\r\nlong: ${"a".repeat(40_000)}\r\n\r\n`), /431|^$/)
    t.equal((await send(gateway, "GET", "/hello/a")).status, 200)
  })

  t.test("when two requests are sent at once on one connection, then both are answered in order", async (t) => {
    const answers = await raw(gateway, "GET /hello/a HTTP/1.1\r\nhost: x\r\n\r\nGET /hello/b HTTP/1.1\r\nhost: x\r\n\r\n")
    t.match(answers, /"a"[\s\S]*"b"/)
  })
})

t.test("given a reader that lags behind an upload", async (t) => {
  const gate = Deferred.makeUnsafe<void>()
  const slow = upload({
    ...common,
    method: "put",
    path: "/slow",
    mediaTypes: ["text/csv"],
    maxBytes: 100_000_000,
    success: Type.Object({ bytes: Type.Integer() }),
    errors: ["BodyTooLarge"],
    handle: ({ body }) =>
      Effect.gen(function* () {
        yield* Deferred.await(gate)
        return {
          bytes: yield* Stream.runFold(
            body,
            () => 0,
            (sum, chunk) => sum + chunk.byteLength
          )
        }
      })
  })
  const gateway = await serving(t, [slow])

  t.test("when a lot is sent, then the sender is slowed down, and nothing is lost", async (t) => {
    const total = 40_000_000
    const socket = connect(gateway.port, "127.0.0.1")
    const answer = new Promise<string>((resolve) => socket.once("data", (data) => resolve(data.toString())))
    socket.write(`PUT /slow HTTP/1.1\r\nhost: x\r\ncontent-length: ${total}\r\n\r\n`)
    socket.write(new Uint8Array(total))
    await new Promise((resolve) => setTimeout(resolve, 300))
    const waiting = socket.writableLength
    t.ok(waiting > 10_000_000, `${waiting} bytes wait at the sender`)
    Deferred.doneUnsafe(gate, Effect.void)
    t.match(await answer, /"bytes":40000000/)
    socket.destroy()
  })
})

t.test("given slow handlers", async (t) => {
  const events: Array<string> = []
  let isWaiting = false
  const begun = () => untilTrue("a request that is being answered", () => isWaiting)
  const wait = route({
    ...common,
    method: "get",
    path: "/wait/:millis",
    params: Type.Object({ millis: Type.Integer() }),
    success: Echo,
    handle: ({ params }) =>
      Effect.sync(() => {
        isWaiting = true
      }).pipe(
        Effect.andThen(Effect.sleep(params.millis)),
        Effect.as({ text: "done" }),
        Effect.onInterrupt(() =>
          Effect.sync(() => {
            events.push("interrupted")
          })
        )
      )
  })
  const limits = { answerMillis: 400, bodyMillis: 300, drainMillis: 500 }

  t.test("when the client disconnects, then the work is interrupted", async (t) => {
    const gateway = await serving(t, [wait])
    events.length = 0
    isWaiting = false
    await abandon(gateway, "GET /wait/60000 HTTP/1.1\r\nhost: x\r\n\r\n", begun)
    await untilTrue("interruption", () => events.length > 0)
    t.strictSame(events, ["interrupted"])
  })

  t.test("when a handler takes too long, then 503 and the work is interrupted", async (t) => {
    const gateway = await serving(t, [wait], { limits })
    events.length = 0
    const answer = await send(gateway, "GET", "/wait/5000")
    t.strictSame([answer.status, answer.json, events], [503, { detail: "The request timed out" }, ["interrupted"]])
  })

  t.test("when the body does not end, then 408", async (t) => {
    const gateway = await serving(t, [echo], { limits })
    const answer = await raw(gateway, 'POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n{"a', 1000)
    t.match(answer, /^HTTP\/1\.1 408 [\s\S]*The request body took too long/)
  })

  t.test("when the server closes, then live requests end by themselves and new ones are not accepted", async (t) => {
    const gateway = await serving(t, [wait], { limits: { drainMillis: 30_000 } })
    isWaiting = false
    const live = send(gateway, "GET", "/wait/1000")
    await begun()
    const stopped = gateway.stop()
    const codeOf = () => send(gateway, "GET", "/hello/a").then(String, ({ code }) => code)
    await untilTrue("refused connection", async () => (await codeOf()) === "ECONNREFUSED")
    t.equal((await live).status, 200)
    await stopped
  })

  t.test("when the server closes and a request does not end, then it is interrupted, and its answer says so", async (t) => {
    const gateway = await serving(t, [wait], { limits: { drainMillis: 100 } })
    events.length = 0
    isWaiting = false
    const live = send(gateway, "GET", "/wait/600000")
    await begun()
    await gateway.stop()
    t.strictSame([(await live).status, events], [503, ["interrupted"]])
  })
})

t.test("given a handler that breaks", async (t) => {
  const log: Array<Logged> = []
  const broken = route({ ...common, method: "get", path: "/broken", success: Echo, handle: () => Effect.die(new Error("secret detail")) })
  const odd = route({
    ...common,
    method: "get",
    path: "/odd",
    success: Type.Object({ text: Type.Number() }),
    handle: () => Effect.succeed(oddly)
  })
  const gateway = await serving(t, [broken, odd], {}, log)

  t.test("when it is called, then 500 reveals nothing internal, and the log has it once, with the request's id", async (t) => {
    const answer = await send(gateway, "GET", "/broken")
    t.strictSame([answer.status, answer.json], [500, { detail: "Internal Server Error" }])
    t.notMatch(JSON.stringify(answer), /secret/)
    const annotations = { requestId: answer.headers["x-request-id"], route: "GET /broken" }
    t.strictSame(log, [{ message: "request failed", annotations }])
  })

  t.test("when an answer is not as declared, then it is a 500 where answers are checked", async (t) => {
    t.equal((await send(gateway, "GET", "/odd")).status, 500)
  })
})

t.test("given a file to be downloaded", async (t) => {
  const bytes = Uint8Array.from({ length: 3_000_000 }, (_, at) => at % 251)
  const body = { bytes: bytes.length, read: (from: number, until: number) => Stream.fromIterable([bytes.subarray(from, until)]) }
  const file = download({
    ...common,
    method: "get",
    path: "/file",
    mediaTypes: ["audio/wav"],
    handle: () => Effect.succeed({ mediaType: "audio/wav", fileName: "1.wav", body })
  })
  const short = download({
    ...common,
    method: "get",
    path: "/short",
    mediaTypes: ["audio/wav"],
    handle: () =>
      Effect.succeed({
        mediaType: "audio/wav",
        body: { bytes: 100, read: () => Stream.concat(Stream.make(new Uint8Array(10)), Stream.fail("gone")) }
      })
  })
  const gateway = await serving(t, [file, short])
  const get = (range?: string, path = "/file") =>
    fetch(`http://127.0.0.1:${gateway.port}${path}`, range === undefined ? {} : { headers: { range } })

  t.test("when all of it is requested, then it comes complete", async (t) => {
    const answer = await get()
    t.equal(answer.headers.get("content-disposition"), 'attachment; filename="1.wav"')
    t.ok(Buffer.from(await answer.arrayBuffer()).equals(bytes))
  })

  t.test("when a part is requested, then 206 and that part", async (t) => {
    for (const [range, from, until] of [
      ["bytes=10-19", 10, 20],
      ["bytes=2999990-", 2_999_990, 3_000_000],
      ["bytes=-5", 2_999_995, 3_000_000]
    ] as const) {
      const answer = await get(range)
      t.equal(answer.status, 206)
      t.equal(answer.headers.get("content-range"), `bytes ${from}-${until - 1}/3000000`)
      t.ok(Buffer.from(await answer.arrayBuffer()).equals(bytes.subarray(from, until)))
    }
    t.equal((await get("bytes=3000000-")).status, 416)
    t.equal((await get("lines=1-2")).status, 200)
  })

  t.test("when the file breaks off, then so does the connection", async (t) => {
    await t.rejects(get(undefined, "/short").then((answer) => answer.text()))
    t.equal((await get("bytes=0-0")).status, 206)
  })
})

t.test("given a port that is in use", async (t) => {
  const first = await serving(t, [hello])
  t.test("when a second server tries to use it, then it says so", async (t) => {
    await t.rejects(serving(t, [hello], { port: first.port }), { message: `Cannot listen on 127.0.0.1:${first.port}` })
  })
})
