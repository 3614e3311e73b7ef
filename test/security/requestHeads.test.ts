/** Requests that are refused because of their heads alone, and what browsers are told. */
import { Effect, Exit, Layer, Scope } from "effect"
import t from "tap"
import Type from "typebox"
import { AllowedHosts, AllowedOrigins, hostsOf } from "#gateway/http/admission.ts"
import { serve } from "#gateway/api.ts"
import { MetricsText } from "#gateway/ports/MetricsText.ts"
import { MetricsServer } from "#gateway/metricsServer.ts"
import { route } from "#gateway/request/Route.ts"
import { keys, raw, send, site, started } from "#test/gateway/gatewayTest.ts"

const Echo = Type.Object({ text: Type.String() })
const common = { summary: "", description: "", access: "none", success: Echo } as const
const routes = [
  route({ ...common, name: "hello", method: "get", path: "/api/v1/hello", handle: () => Effect.succeed({ text: "hello" }) }),
  route({ ...common, name: "echo", method: "post", path: "/api/v1/echo", body: Echo, handle: ({ body }) => Effect.succeed(body) })
]
const gatewayWith = (t: Parameters<typeof started>[0], ...references: ReadonlyArray<Layer.Layer<never>>) =>
  started(
    t,
    serve(routes, { host: "127.0.0.1", port: 0 }).pipe(Layer.provide([keys, site]), (gateway) =>
      references.reduce((all, reference) => Layer.provide(all, reference), gateway)
    )
  )
const statuses = (answers: string): ReadonlyArray<string> => [...answers.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status = ""]) => status)

t.test("given a gateway", async (t) => {
  const gateway = await gatewayWith(t)
  const body = '{"text":"a"}'
  const post = (lines: string, sent: string) =>
    raw(gateway, `POST /api/v1/echo HTTP/1.1\r\nhost: localhost\r\n${lines}\r\n\r\n${sent}`, 300)

  t.test("when the length is given twice, then 400, and what follows is not taken for another request", async (t) => {
    const smuggled = "GET /api/v1/hello HTTP/1.1\r\nhost: localhost\r\n\r\n"
    const twice = `content-length: ${body.length}\r\ncontent-length: ${body.length + smuggled.length}`
    t.strictSame(statuses(await post(twice, body + smuggled)), [], "the connection ends")
    t.strictSame(statuses(await post(`content-length: ${body.length}\r\nContent-Length: ${body.length}`, body)), ["400"])
    t.strictSame(statuses(await post(`content-length: ${body.length}, ${body.length}`, body)), ["400"])
    const get = `GET /api/v1/hello HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\ncontent-length: ${smuggled.length}\r\n\r\n${smuggled}`
    t.strictSame(statuses(await raw(gateway, get, 300)), [])
  })

  t.test("when the transfer coding is not chunked, or there are two, then nothing is read", async (t) => {
    const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
    t.strictSame(statuses(await post("transfer-encoding: chunked", chunked)), ["200"])
    t.strictSame(statuses(await post("transfer-encoding: Chunked", chunked)), ["200"])
    for (const coding of ["gzip", "identity", "gzip, chunked", "chunked, identity", "xchunked"]) {
      t.strictSame(statuses(await post(`transfer-encoding: ${coding}`, chunked)), ["501"], coding)
    }
    t.strictSame(statuses(await post("transfer-encoding: chunked\r\ntransfer-encoding: chunked", chunked)), ["400"])
    t.strictSame(statuses(await post(`transfer-encoding: chunked\r\ncontent-length: ${chunked.length}`, chunked)), ["400"])
  })

  t.test("when a body comes in thousands of single bytes, then it is refused", async (t) => {
    const pieces = "1\r\n \r\n".repeat(4000)
    t.strictSame(statuses(await post("transfer-encoding: chunked", pieces)), ["400"])
  })

  t.test("when a browser sends a preflight request, then any path below /api/v1 is answered with 200", async (t) => {
    const origin = {
      origin: "https://app.example.com",
      "access-control-request-method": "POST",
      "access-control-request-headers": "x-api-key"
    }
    for (const path of ["/api/v1/nowhere", "/api/v1/hello/", "/api/v1/hello"]) {
      const answer = await send(gateway, "OPTIONS", path, { headers: origin })
      t.equal(answer.status, 200, path)
      t.match(answer.headers, { "access-control-allow-origin": "*", "access-control-allow-headers": "x-api-key" })
      t.equal(answer.headers["access-control-allow-credentials"], undefined)
    }
    const methods = (await send(gateway, "OPTIONS", "/api/v1/echo", { headers: origin })).headers["access-control-allow-methods"]
    t.equal(methods, "POST")
    const missing = await send(gateway, "POST", "/api/v1/nowhere", { headers: { origin: origin.origin } })
    t.strictSame([missing.status, missing.headers["access-control-allow-origin"]], [404, "*"])
    t.equal((await send(gateway, "OPTIONS", "/elsewhere")).status, 404)
  })
})

t.test("given a gateway with a name", async (t) => {
  const gateway = await gatewayWith(t, Layer.succeed(AllowedHosts, hostsOf(["0.0.0.0", "Calls.example.com"])))
  const statusFor = async (host: string) => statuses(await raw(gateway, `GET /api/v1/hello HTTP/1.1\r\nhost: ${host}\r\n\r\n`, 100))[0]

  t.test("when it is addressed by its name, an address or localhost, then it answers", async (t) => {
    const local = ["localhost", "LOCALHOST:8000", "127.0.0.1", "192.0.2.7:80", "[::1]:8000"]
    for (const host of [...local, "calls.example.com", "calls.example.com.:443"]) t.equal(await statusFor(host), "200", host)
  })

  t.test("when it is addressed by any other, as after DNS rebinding, then 421, also for unknown paths", async (t) => {
    const below = ["calls.example.com", "127.0.0.1", "localhost"].map((name) => `${name}.evil.example`)
    for (const host of ["evil.example", "evil.example:8000", "[evil]", ...below]) t.equal(await statusFor(host), "421", host)
    const stray = await raw(gateway, "OPTIONS /api/v1/x HTTP/1.1\r\nhost: evil.example\r\n\r\n", 100)
    t.strictSame(statuses(stray), ["421"])
  })
})

t.test("given origins allowed to read answers", async (t) => {
  const gateway = await gatewayWith(t, Layer.succeed(AllowedOrigins, new Set(["https://app.example.com"])))
  const allowed = async (method: string, path: string, origin?: string) => {
    const answer = await send(gateway, method, path, { headers: origin === undefined ? {} : { origin } })
    return [answer.headers["access-control-allow-origin"], answer.headers["vary"]]
  }

  t.test("when one of them asks, then it is named, and others are not", async (t) => {
    for (const [method, path] of [
      ["GET", "/api/v1/hello"],
      ["OPTIONS", "/api/v1/hello"],
      ["GET", "/api/v1/nowhere"]
    ] as const) {
      t.strictSame(await allowed(method, path, "https://app.example.com"), ["https://app.example.com", "origin"])
      t.strictSame(await allowed(method, path, "https://evil.example"), [undefined, "origin"])
      t.strictSame(await allowed(method, path), [undefined, "origin"])
    }
  })
})

t.test("given metrics for this machine", async (t) => {
  const figures = Layer.succeed(MetricsText, Effect.succeed("calls_live 3\n"))
  const scope = Scope.makeUnsafe()
  t.teardown(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  const layer = MetricsServer.layer(0).pipe(Layer.provide([keys, figures, Layer.succeed(AllowedOrigins, undefined)]))
  const { url: found } = await Effect.runPromise(
    Effect.flatMap(Layer.buildWithScope(layer, scope), (context) => Effect.provide(MetricsServer, context))
  )

  t.test("when their own port is asked, then it has them, and nothing else", async (t) => {
    const url = new URL(found ?? "")
    t.strictSame([url.hostname, url.pathname], ["127.0.0.1", "/metrics"])
    t.equal(await (await fetch(url)).text(), "calls_live 3\n")
    t.equal((await fetch(new URL("/api/v1/health", url))).status, 404)
  })

  t.test("when a page in a browser on this machine asks, then it may not read them, whatever its site", async (t) => {
    for (const origin of ["https://evil.example", "http://localhost:3010", "null"]) {
      const { headers } = await fetch(found ?? "", { headers: { origin } })
      t.equal(headers.get("access-control-allow-origin"), null, origin)
    }
  })
})
