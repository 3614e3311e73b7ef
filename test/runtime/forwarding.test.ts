/** How an engine that does not serve the API treats clients that connect to it. */
import { Effect } from "effect"
import { request } from "node:http"
import { type AddressInfo, connect, createServer as listen, type Socket } from "node:net"
import t from "tap"
import { placeOf } from "#runtime/lock/EnginePlace.ts"
import { following } from "#runtime/lock/Forwarding.ts"
import { answeringServer } from "#test/support/answeringServer.ts"
import { freePort } from "#test/support/freePort.ts"
import { runLive } from "#test/support/run.ts"
import { untilTrue } from "#test/support/until.ts"

/** Sends a request on a connection that is not kept open. */
const post = (port: number, body = "") =>
  new Promise<string>((resolve) => {
    const asked = request({ agent: false, host: "127.0.0.1", method: "POST", port }, (answer) => {
      let text = ""
      answer.on("data", (chunk: Buffer) => void (text += chunk.toString())).on("end", () => resolve(`${answer.statusCode} ${text}`))
    })
    asked.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? "failed"))
    asked.end(body)
  })

t.test("given an engine that does not serve the API", async (t) => {
  const [own, gone] = [await freePort(), await freePort()]
  const { port: engine } = await answeringServer(t, (response, { body }) => response.end(`${body.length} bytes`))
  const refused = '503 {"detail":"No engine is in charge at the moment: try again"}'
  await runLive(
    Effect.gen(function* () {
      const { follow } = yield* following({ host: "127.0.0.1", port: own })
      const check = (expected: string, name: string, body?: string) =>
        Effect.map(
          Effect.promise(() => post(own, body)),
          (answer) => t.equal(answer, expected, name)
        )
      yield* follow(undefined)
      yield* check("ECONNREFUSED", "then it does not listen before it knows another one")
      yield* follow({ host: "127.0.0.1", port: engine })
      yield* check("200 0 bytes", "then it passes on requests and answers")
      yield* check("200 5000000 bytes", "also long ones", "x".repeat(5_000_000))
      yield* follow({ host: "127.0.0.1", port: gone })
      yield* check(refused, "when the other one is gone, then it tells clients to retry")
      yield* follow(undefined)
      yield* check(refused, "and when no engine dials")
    }).pipe(Effect.scoped)
  )
  t.equal(await post(own), "ECONNREFUSED", "when it takes over, then its port is free")
})

/** The answer to a client that sends this, and neither reads nor closes the connection before all of the answer has arrived. */
const dangling = (port: number, said: string) =>
  new Promise<Socket>((resolve) => {
    const socket = connect({ allowHalfOpen: true, host: "127.0.0.1", port }, () => socket.write(said))
    socket.on("error", () => {}).once("data", () => resolve(socket))
  })
const open = () => process.getActiveResourcesInfo().filter((kind) => kind === "TCPSocketWrap").length

t.test("given clients that were refused, then nothing is left of their connections", async (t) => {
  const [own, gone] = [await freePort(), await freePort()]
  await runLive(
    Effect.gen(function* () {
      const { follow } = yield* following({ host: "127.0.0.1", port: own })
      yield* follow({ host: "127.0.0.1", port: gone })
      const before = open()
      yield* Effect.promise(() => Promise.all(Array.from({ length: 10 }, () => post(own, "x".repeat(100_000)))))
      yield* follow(undefined)
      yield* Effect.promise(() => Promise.all(Array.from({ length: 10 }, () => post(own))))
      const sockets = yield* Effect.promise(() => Promise.all([dangling(own, "GET / HTTP/1.1\r\n\r\n"), dangling(own, "x")]))
      yield* Effect.promise(() => untilTrue("end of the connections to this engine", () => open() <= before + sockets.length))
      for (const socket of sockets) socket.destroy()
    }).pipe(Effect.scoped)
  )
  t.pass()
})

t.test("given where another engine listens", (t) => {
  const cases = [
    ["10.0.0.7:8000", "elsewhere", { host: "10.0.0.7", port: 8000 }],
    ["127.0.0.1:8000", "here", { host: "127.0.0.1", port: 8000 }],
    ["127.0.0.1:8000", "elsewhere", undefined],
    ["localhost:8000", "elsewhere", undefined],
    [null, "here", undefined]
  ] as const
  for (const [address, host, place] of cases) t.strictSame(placeOf({ address, host }, "here"), place, `${address} on ${host}`)
  t.end()
})

t.test("given a port that is in use, then the engine stands by without it", async (t) => {
  const other = listen()
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve))
  t.teardown(() => other.close())
  const { port } = other.address() as AddressInfo
  await runLive(
    Effect.gen(function* () {
      const { follow } = yield* following({ host: "127.0.0.1", port })
      yield* follow({ host: "127.0.0.1", port: 9 })
      yield* follow({ host: "127.0.0.1", port: 9 })
    }).pipe(Effect.scoped)
  )
  t.ok(other.listening)
})
