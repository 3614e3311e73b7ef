/** What an engine that stands by does with those who come to it. */
import { Effect } from "effect"
import { createServer, request } from "node:http"
import { type AddressInfo, createServer as listen } from "node:net"
import t, { type Test } from "tap"
import { following } from "#runtime/lock/Forwarding.ts"
import { freePort } from "#test/support/freePort.ts"
import { runLive } from "#test/support/run.ts"

/** An engine that says how long the body was that it got. */
const engineAt = async (t: Test): Promise<number> => {
  const server = createServer((asked, answer) => {
    let bytes = 0
    asked.on("data", (chunk: Buffer) => void (bytes += chunk.length)).on("end", () => answer.end(`${bytes} bytes`))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  t.teardown(() => server.close())
  // A server that listens on a port has an address with it.
  return (server.address() as AddressInfo).port
}

/** Without a connection that is kept for the next request. */
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
  t.equal(seen.alone, "ECONNREFUSED", "then it does not listen before it knows of another one")
  t.strictSame(seen.followed, ["200 0 bytes", "200 5000000 bytes"], "then it passes on what it gets, and the answers")
  t.equal(seen.lost, refused, "when that one is not there any more, then it asks clients to come again")
  t.equal(seen.elsewhere, refused, "so it does when that one listens for its own machine only")
  t.equal(seen.nobody, refused, "and when nobody dials")
  t.equal(await post(own), "ECONNREFUSED", "when it takes over, then its port is free")
})

t.test("given a port that somebody else has, then the engine stands by without it", async (t) => {
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
