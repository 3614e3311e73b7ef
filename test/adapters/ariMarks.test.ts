/** The audio to Asterisk: what we send on the media websocket, and how Asterisk's answers are understood. */
import type { AddressInfo } from "node:net"
import { once } from "node:events"
import { Effect, Exit, Scope } from "effect"
import t, { type Test } from "tap"
import { type WebSocket, WebSocketServer } from "ws"
import { openSocket } from "#adapters/ari/AriMediaSocket.ts"
import type { Asterisk } from "#adapters/ari/Asterisk.ts"
import { everywhere } from "#adapters/conformance/EngineSide.ts"
import { untilTrue } from "#test/support/until.ts"

const frame = new Uint8Array(160).fill(0xff)
const MARK = "MARK_MEDIA "

/** A stream, Asterisk's end of its websocket, and what each has sent. */
const given = async (t: Test) => {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 })
  const connected = once(server, "connection")
  await once(server, "listening")
  const scope = Scope.makeUnsafe()
  t.teardown(async () => {
    await Effect.runPromise(Scope.close(scope, Exit.void))
    server.close()
  })
  // The cast holds because the server listens on TCP. The socket needs only these parts of an Asterisk.
  const base = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const asterisk = { authorization: "Basic", base, egress: everywhere } as unknown as Asterisk
  const opening = Effect.runPromise(openSocket(asterisk, "connection-1").pipe(Effect.provideService(Scope.Scope, scope)))
  // The cast holds for the first argument of the event.
  const [socket] = (await connected) as [WebSocket]
  const stream = await opening
  const [said, heard]: [Array<string>, Array<string>] = [[], []]
  socket.on("message", (data, isBinary) => void (isBinary ? undefined : said.push(data.toString())))
  stream.listen({
    closed: () => heard.push("closed"),
    frame: () => heard.push("frame"),
    marked: (name, how) => heard.push(`${name} ${how}`)
  })
  /** Sends this, and then a frame of the callee, which shows that it has arrived. */
  const tell = async (event: string) => {
    socket.send(event)
    const before = heard.filter((one) => one === "frame").length
    socket.send(frame)
    await untilTrue("the callee", async () => heard.filter((one) => one === "frame").length > before)
  }
  /** Echoes the mark that was sent at this place. */
  const echo = async (place: number) => {
    await untilTrue("the mark", async () => said.length > place)
    await tell(`MEDIA_MARK_PROCESSED ${(said[place] ?? "").slice(MARK.length)}`)
  }
  return { echo, heard, said, stream, tell }
}

/** Sends a second of audio: our own clock would report much later that it has been played. */
const speak = ({ stream }: Awaited<ReturnType<typeof given>>) => {
  for (let frames = 0; frames < 50; frames++) stream.send(frame)
}

t.test("when Asterisk has processed a mark, then it is reported as played at once, and only once", async (t) => {
  const line = await given(t)
  speak(line)
  t.ok(line.stream.mark("greeting"))
  await line.echo(0)
  await line.echo(0)
  t.strictSame(line.heard, ["greeting played", "frame", "frame"])
})

t.test("when marks have the same name, then each has its own id, and a later one proves the earlier ones", async (t) => {
  const line = await given(t)
  speak(line)
  line.stream.mark("word")
  line.stream.mark("word")
  await line.echo(1)
  t.strictSame(line.heard, ["word played", "word played", "frame"])
  t.ok(line.said.every((one) => one.startsWith(MARK)))
  t.equal(new Set(line.said).size, 2)
})

t.test("when audio is flushed, then its marks are reported as cleared, and late echoes of them are ignored", async (t) => {
  const line = await given(t)
  speak(line)
  line.stream.mark("cut")
  line.stream.clear()
  t.strictSame(line.heard, ["cut cleared"])
  line.stream.mark("next")
  await untilTrue("all of it", async () => line.said.length === 3)
  t.equal(line.said[1], "FLUSH_MEDIA")
  await line.echo(0)
  t.strictSame(line.heard, ["cut cleared", "frame"])
  await line.echo(2)
  t.strictSame(line.heard, ["cut cleared", "frame", "next played", "frame"])
})

t.test("A11: when Asterisk has no room, then no frame is sent until it has, or until the audio is flushed", async (t) => {
  const { stream, tell } = await given(t)
  t.equal(stream.send(frame), true)
  await tell("MEDIA_XOFF")
  t.equal(stream.send(frame), false)
  await tell("MEDIA_XON")
  t.equal(stream.send(frame), true)
  await tell("MEDIA_XOFF")
  stream.clear()
  t.equal(stream.send(frame), true)
})

t.test("A12: when a mark has a long name, then the command is short enough, and the whole name is reported", async (t) => {
  const { echo, heard, said, stream } = await given(t)
  const name = "word".repeat(50)
  stream.send(frame)
  stream.mark(name)
  await echo(0)
  t.ok((said[0] ?? "").length <= 128)
  t.strictSame(heard, [`${name} played`, "frame"])
})
