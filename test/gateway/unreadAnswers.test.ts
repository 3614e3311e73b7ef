/**
 * A client that sends requests and reads no answer. It is judged by the memory that this takes, and by what arrives when it reads at last: no more
 * than the buffers of two sockets hold, and a few answers.
 */
import { Effect } from "effect"
import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { setImmediate as nextTurn } from "node:timers/promises"
import t, { type Test } from "tap"
import Type from "typebox"
import { download, route } from "#gateway/request/Route.ts"
import { socketPath } from "#gateway/events/liveEvents.ts"
import { raw, send, serving } from "./gatewayTest.ts"

const kilobyte = 1024
const common = { name: "x", summary: "", description: "", access: "none", method: "get" } as const
const text = (path: string, body: string) =>
  download({ ...common, path, mediaTypes: ["text/plain"], handle: () => Effect.succeed({ mediaType: "text/plain", body }) })
const small = route({ ...common, path: "/small", success: Type.String(), handle: () => Effect.succeed("small") })
const later = route({
  ...common,
  path: "/later",
  success: Type.String(),
  handle: () =>
    Effect.as(
      Effect.promise(() => nextTurn()),
      "a".repeat(60 * kilobyte)
    )
})
const huge = 8 * 1024 * kilobyte
const routes = [
  text("/huge", "a".repeat(huge)),
  text("/large", "a".repeat(1024 * kilobyte)),
  text("/middle", "a".repeat(60 * kilobyte)),
  small,
  later
]

/** In kilobytes. Six thousand of the middling answers are 360 MB. */
const memory = 200 * kilobyte

/** What two sockets on one machine hold at most: `net.ipv4.tcp_wmem` and `tcp_rmem`. */
const buffers = 12 * 1024 * kilobyte

const ask = (method: string, path: string, lines: ReadonlyArray<string> = []) =>
  `${[`${method} ${path} HTTP/1.1`, "host: localhost", ...lines].join("\r\n")}\r\n\r\n`
const upgrade = ["upgrade: websocket", "connection: upgrade", "sec-websocket-version: 13", "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=="]

const opened = async (t: Test, port: number): Promise<Socket> => {
  const socket = connect(port, "127.0.0.1")
  socket.on("error", () => undefined)
  t.teardown(() => socket.destroy())
  await once(socket, "connect")
  return socket
}

/** Everything that arrives until the server ends the connection, or has nothing more to send. */
const readAll = (socket: Socket): Promise<{ readonly bytes: number; readonly answers: number; readonly isEnded: boolean }> =>
  new Promise((resolve) => {
    let bytes = 0
    let answers = 0
    const over = (isEnded: boolean) => {
      clearTimeout(quiet)
      resolve({ bytes, answers, isEnded })
    }
    const quiet = setTimeout(() => over(false), 2000)
    socket.on("data", (chunk: Buffer) => {
      quiet.refresh()
      bytes += chunk.length
      answers += chunk.toString("latin1").split("HTTP/1.1 ").length - 1
    })
    if (socket.destroyed) return over(true)
    socket.on("close", () => over(true))
    socket.resume()
  })

t.test("given a client that sends six thousand requests in one piece and reads nothing", async (t) => {
  const gateway = await serving(t, routes)
  const requests = {
    "a middling one": ask("GET", "/middle"),
    "a small one": ask("GET", "/small"),
    "one that takes a moment": ask("GET", "/later"),
    "only the head": ask("HEAD", "/large"),
    "an unknown path": ask("GET", "/nowhere"),
    "another method": ask("PURGE", "/small"),
    "another spelling": ask("GET", "/small/"),
    "a preflight": ask("OPTIONS", "/api/v1/nowhere", ["origin: https://a.example", "access-control-request-method: GET"]),
    "an unsupported coding": ask("GET", "/small", ["transfer-encoding: gzip"]),
    "a websocket with a bad head": ask("GET", socketPath, [...upgrade, "content-length: 1", "content-length: 0"]),
    "a large answer": ask("GET", "/large")
  }
  for (const [title, request] of Object.entries(requests)) {
    t.test(`when it asks for ${title}, then it gets a few answers, and its connection ends`, async (t) => {
      const socket = await opened(t, gateway.port)
      socket.pause()
      const before = process.resourceUsage().maxRSS
      socket.write(request.repeat(6000))
      t.equal((await send(gateway, "GET", "/small")).status, 200)
      const { answers, bytes, isEnded } = await readAll(socket)
      t.equal(isEnded, true, "ended")
      t.ok(answers <= 100, `${answers} answers`)
      t.ok(bytes < buffers, `${bytes} bytes`)
      const grown = process.resourceUsage().maxRSS - before
      t.ok(grown < memory, `${grown} kilobytes more`)
    })
  }
})

t.test("given a client that sends a few requests at a time and reads nothing", async (t) => {
  const gateway = await serving(t, routes)
  const trickles = {
    "middling answers": [ask("GET", "/middle"), 60 * kilobyte],
    "middling answers that take a moment": [ask("GET", "/later"), 60 * kilobyte],
    "redirects and heads": [ask("HEAD", "/middle") + ask("GET", "/", ["accept: text/html"]) + ask("OPTIONS", "/api/v1/x"), 1024]
  } as const
  for (const [title, [request, size]] of Object.entries(trickles)) {
    t.test(`when these are ${title}, then no more is sent than the sockets hold`, async (t) => {
      const socket = await opened(t, gateway.port)
      socket.pause()
      const wanted = (2 * buffers) / size
      for (let sent = 0; sent < wanted && !socket.destroyed; sent++) {
        socket.write(request)
        await nextTurn()
        await nextTurn()
      }
      const { bytes, isEnded } = await readAll(socket)
      t.equal(isEnded, true, "and its connection ends")
      t.ok(bytes < buffers, `${bytes} bytes`)
    })
  }
})

t.test("given a client with many connections that reads nothing", async (t) => {
  const gateway = await serving(t, routes)
  const sockets = await Promise.all(Array.from({ length: 24 }, () => opened(t, gateway.port)))
  for (const socket of sockets) {
    socket.pause()
    socket.write(ask("GET", "/huge"))
  }
  t.equal((await send(gateway, "GET", "/small")).status, 200)

  t.test("when it reads at last, then few answers have waited for it, and the others were cut off", async (t) => {
    const all = await Promise.all(sockets.map(readAll))
    const whole = all.filter(({ bytes }) => bytes > huge)
    t.ok(whole.length > 0 && whole.length * huge < 64 * 1024 * kilobyte, `${whole.length} whole answers`)
    const areOver = all.every((one) => one.isEnded || whole.includes(one))
    t.ok(areOver, "the others were cut off")
  })

  t.test("when it has read them, then there is room again", async (t) => {
    for (let count = 0; count < 8; count++) t.equal((await send(gateway, "GET", "/huge")).text.length, huge)
  })
})

t.test("given a client that reads", async (t) => {
  const gateway = await serving(t, routes)

  t.test("when it sends a few requests in one piece, then all are answered, in order", async (t) => {
    const answers = await raw(gateway, ask("GET", "/small") + ask("HEAD", "/small") + ask("GET", "/nowhere") + ask("GET", "/small"), 300)
    t.strictSame(answers.match(/HTTP\/1\.1 \d{3}/g), ["HTTP/1.1 200", "HTTP/1.1 200", "HTTP/1.1 404", "HTTP/1.1 200"])
  })

  t.test("when a large answer is read slowly, then it is whole", async (t) => {
    const socket = await opened(t, gateway.port)
    const wanted = 30
    socket.pause()
    let bytes = 0
    socket.on("data", (chunk: Buffer) => {
      bytes += chunk.length
    })
    for (let count = 1; count <= wanted; count++) {
      socket.write(ask("GET", "/large"))
      socket.resume()
      while (bytes < count * 1024 * kilobyte) await nextTurn()
      socket.pause()
    }
    t.equal(socket.destroyed, false)
  })
})
