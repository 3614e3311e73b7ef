/** How an engine that stands by treats clients that connect to it. */
import { Effect } from "effect"
import { createServer, request } from "node:http"
import { type AddressInfo, connect, createServer as listen, type Socket } from "node:net"
import t, { type Test } from "tap"
import { following } from "#runtime/lock/Forwarding.ts"
import { freePort } from "#test/support/freePort.ts"
import { runLive } from "#test/support/run.ts"
import { untilTrue } from "#test/support/until.ts"

/** An engine that responds with the length of the body that it got. */
const engineAt = async (t: Test): Promise<number> => {
  const server = createServer((asked, answer) => {
    let bytes = 0
    asked.on("data", (chunk: Buffer) => void (bytes += chunk.length)).on("end", () => answer.end(`${bytes} bytes`))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  t.teardown(() => server.close())
  // The cast holds because a server that listens on a port has such an address.
  return (server.address() as AddressInfo).port
}

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

t.test("given an engine that stands by", async (t) => {
  const [own, engine] = [await freePort(), await engineAt(t)]
  const gone = await freePort()
  const seen = await runLive(
    Effect.gen(function* () {
      const { follow } = yield* following({ host: "127.0.0.1", port: own }, "here")
      const ask = (body?: string) => Effect.promise(() => post(own, body))
      yield* follow(undefined)
      const alone = yield* ask()
      yield* follow({ address: `127.0.0.1:${engine}`, host: "here" })
      const followed = [yield* ask(), yield* ask("x".repeat(5_000_000))]
      yield* follow({ address: `127.0.0.1:${gone}`, host: "here" })
      const lost = yield* ask()
      yield* follow({ address: `127.0.0.1:${engine}`, host: "elsewhere" })
      const elsewhere = yield* ask()
      yield* follow(undefined)
      return { alone, elsewhere, followed, lost, nobody: yield* ask() }
    }).pipe(Effect.scoped)
  )
  const refused = '503 {"detail":"No engine is in charge at the moment: try again"}'
  t.equal(seen.alone, "ECONNREFUSED", "then it does not listen before it knows another one")
  t.strictSame(seen.followed, ["200 0 bytes", "200 5000000 bytes"], "then it passes on requests and answers")
  t.equal(seen.lost, refused, "when the other one is gone, then it tells clients to retry")
  t.equal(seen.elsewhere, refused, "also when the other one listens only for its own machine")
  t.equal(seen.nobody, refused, "and when no engine dials")
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
      const { follow } = yield* following({ host: "127.0.0.1", port: own }, "here")
      yield* follow({ address: `127.0.0.1:${gone}`, host: "here" })
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

t.test("given a port that is in use, then the engine stands by without it", async (t) => {
  const other = listen()
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve))
  t.teardown(() => other.close())
  const { port } = other.address() as AddressInfo
  await runLive(
    Effect.gen(function* () {
      const { follow } = yield* following({ host: "127.0.0.1", port }, "here")
      yield* follow({ address: "127.0.0.1:9", host: "here" })
      yield* follow({ address: "127.0.0.1:9", host: "here" })
    }).pipe(Effect.scoped)
  )
  t.ok(other.listening)
})
