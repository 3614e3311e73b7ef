import { once } from "node:events"
import { createRequire } from "node:module"
import t from "tap"
import { WebSocket } from "ws"
import type { AriEmulator } from "./ari/AriEmulator.ts"
import { credentials, listen, originate, rest, start, until } from "./ari/bareClient.ts"
import { frameBytes, fromMulaw } from "./ari/Sound.ts"

const byWebSocket = "external_host=INCOMING&transport=websocket&encapsulation=none&connection_type=server&format=ulaw"
const ours = Buffer.alloc(frameBytes, 0x42)

const mediaUrl = (emulator: AriEmulator, connectionId: string): string => `${emulator.url.replace("http", "ws")}/media/${connectionId}`

const open = async (emulator: AriEmulator, connectionId: string) => {
  const socket = new WebSocket(mediaUrl(emulator, connectionId), "media", { headers: { authorization: credentials(emulator) } })
  const audio: Array<Buffer> = []
  const texts: Array<string> = []
  socket.on("message", (data: Buffer, isBinary) => (isBinary ? audio.push(data) : texts.push(String(data))))
  // Listens from the start, because on a busy machine the socket may close before the test waits for it.
  const closed = new Promise<number>((resolve) => socket.once("close", resolve))
  await once(socket, "open")
  return { socket, audio, closed, texts }
}

const externalMedia = (emulator: AriEmulator, id: string) =>
  rest(emulator, "POST", `/channels/externalMedia?app=app&channelId=${id}&${byWebSocket}`)

/** An answered call with an open media socket, in one bridge. */
const talking = async (emulator: AriEmulator, lastThree: string) => {
  const client = await listen(emulator)
  await originate(emulator, "call", lastThree)
  await client.sees("call", "StasisStart")
  const { body } = await externalMedia(emulator, "media")
  const connectionId: string = body.channelvars.MEDIA_WEBSOCKET_CONNECTION_ID
  const media = await open(emulator, connectionId)
  await client.sees("media", "StasisStart")
  await rest(emulator, "POST", "/bridges?type=mixing&bridgeId=bridge")
  t.equal((await rest(emulator, "POST", "/bridges/bridge/addChannel?channel=call,media")).status, 204)
  return { client, connectionId, ...media }
}

/** The root mean square of each frame. */
const loudness = (audio: ReadonlyArray<Buffer>): ReadonlyArray<number> =>
  audio.map((frame) => Math.sqrt(frame.reduce((sum, byte) => sum + fromMulaw(byte) ** 2, 0) / frame.length))

t.test("given a media socket in a bridge with a call", async (t) => {
  t.test("when both talk, then frames pass both ways in real time, and the log has what the callee heard", async (t) => {
    const emulator = await start(t)
    const { audio, connectionId, socket, texts } = await talking(emulator, "111")
    t.match(texts[0], `MEDIA_START connection_id:${connectionId} channel:WebSocket/INCOMING-`)
    t.match(texts[0], / channel_id:media format:ulaw optimal_frame_size:160 ptime:20$/)
    socket.send(Buffer.concat([ours, ours, ours]))
    socket.send(Buffer.concat([ours, Buffer.alloc(7)]))
    await until(() => audio.length >= 50)
    t.ok(audio.every((frame) => frame.length === frameBytes))
    t.ok(Math.max(...loudness(audio)) > 2000)
    t.match(emulator.log.audio("call"), { received: 4, receivedBytes: 4 * frameBytes + 7, played: 4, dropped: 0 })
    t.same(emulator.log.heard("call"), Buffer.alloc(4 * frameBytes, 0x42))

    const second = new WebSocket(mediaUrl(emulator, connectionId), "media", { headers: { authorization: credentials(emulator) } })
    t.match((await once(second, "error"))[0], /409/)
    const nowhere = new WebSocket(mediaUrl(emulator, "nowhere"), "media", { headers: { authorization: credentials(emulator) } })
    t.match((await once(nowhere, "error"))[0], /404/)
    const stranger = new WebSocket(mediaUrl(emulator, connectionId), "media")
    t.match((await once(stranger, "error"))[0], /401/)
  })

  t.test("when commands are sent, then the queue obeys", async (t) => {
    const emulator = await start(t)
    const { socket, texts } = await talking(emulator, "111")
    const sees = (text: string) => until(() => texts.includes(text))
    socket.send(Buffer.concat([ours, ours]))
    socket.send("MARK_MEDIA b")
    await sees("MEDIA_MARK_PROCESSED b")
    t.equal(emulator.log.heard("call").length, 2 * frameBytes)

    socket.send(Buffer.alloc(400 * frameBytes, 0x42))
    socket.send(Buffer.alloc(400 * frameBytes, 0x42))
    socket.send(Buffer.alloc(300 * frameBytes, 0x42))
    socket.send("MARK_MEDIA lost")
    await sees("MEDIA_XOFF")
    await until(() => emulator.log.audio("call").dropped > 0)
    socket.send("FLUSH_MEDIA")
    await sees("MEDIA_XON")
    t.equal(emulator.log.audio("call").flushes, 1)
    t.notOk(texts.includes("MEDIA_MARK_PROCESSED lost"))
    socket.send(`MARK_MEDIA ${"x".repeat(128)}`)
    socket.send("NONSENSE")
    await sees("ERROR channel_id:media error_text:Unknown command: NONSENSE")
    t.equal(texts.filter((text) => text.startsWith("MEDIA_MARK")).length, 1)
  })

  t.test("when the callee presses keys and hangs up, then the media channel and the bridge stay until they are deleted", async (t) => {
    // The first key comes a second after the answer, by which time even a busy machine has bridged the call.
    const emulator = await start(t, { talkMillis: 600_000 })
    const { client, closed, socket, texts } = await talking(emulator, "110")
    await client.sees("call", "ChannelDestroyed")
    t.ok(client.of("call").some((event) => event.type === "ChannelLeftBridge"))
    t.match(texts, ["MEDIA_START", "DTMF_END digit:1", "DTMF_END digit:2", "DTMF_END digit:3", "DTMF_END digit:4", "DTMF_END digit:#"])
    t.strictSame((await rest(emulator, "GET", "/bridges/bridge")).body.channels, ["media"])
    t.equal(socket.readyState, WebSocket.OPEN)
    await rest(emulator, "DELETE", "/channels/media")
    t.equal(await closed, 1000)
    t.equal((await rest(emulator, "DELETE", "/bridges/bridge")).status, 204)
    t.strictSame((await rest(emulator, "GET", "/channels")).body, [])
  })

  t.test("when the socket closes, then the media channel ends and the call continues", async (t) => {
    const emulator = await start(t)
    const { client, socket } = await talking(emulator, "111")
    socket.close(1000)
    await client.sees("media", "ChannelDestroyed")
    t.match(client.of("media").at(-1), { cause: 16, tech_cause: 1000 })
    t.equal(emulator.live(), 1)
    const { body } = await externalMedia(emulator, "third")
    await open(emulator, body.channelvars.MEDIA_WEBSOCKET_CONNECTION_ID)
    emulator.dropMediaSockets()
    await client.sees("third", "ChannelDestroyed")
    t.equal(emulator.live(), 1)
  })

  t.test("when the line is lost, then the socket and both channels are gone, without a closing handshake", async (t) => {
    // The line is lost after half of this time, by which even a busy machine has bridged the call.
    const emulator = await start(t, { talkMillis: 600_000 })
    const { client, closed } = await talking(emulator, "105")
    t.equal(await closed, 1006)
    await client.sees("call", "ChannelDestroyed")
    t.equal(client.of("call").at(-1)?.cause, 38)
    t.equal(client.of("media").at(-1)?.cause, 38)
  })
})

type AriClientEvent = { readonly cause: number; readonly channel: { readonly id: string; readonly state: string } }
type AriClient = {
  start(app: string): Promise<void>
  stop(): void
  on(type: string, listener: (event: AriClientEvent) => void): void
  readonly asterisk: { getInfo(): Promise<{ readonly system: { readonly version: string } }> }
  Channel(): {
    readonly id: string
    originate(options: object): Promise<{ readonly id: string; hangup(): Promise<void> }>
  }
}
type AriClientModule = { connect(url: string, user: string, password: string): Promise<AriClient> }

t.test("given the npm client for Asterisk, then it reads, originates, hears and hangs up as it does with Asterisk", async (t) => {
  const emulator = await start(t)
  // The package has no types; only what is used here is declared above.
  const { connect }: AriClientModule = createRequire(import.meta.url)("ari-client")
  const { log } = console
  console.log = () => {} // it complains about Swagger 1.1, with Asterisk as well as with the emulator
  t.teardown(() => {
    console.log = log
  })
  const client = await connect(emulator.url, emulator.user, emulator.password)
  t.equal((await client.asterisk.getInfo()).system.version, "22.10.1")
  const events: Array<string> = []
  client.on("StasisStart", (event) => events.push(`started ${event.channel.state}`))
  client.on("ChannelDestroyed", (event) => events.push(`ended ${event.cause}`))
  await client.start("app")
  const channel = await client.Channel().originate({ endpoint: "PJSIP/+15550001111@trunk", app: "app", variables: { A: "b" } })
  t.equal((await rest(emulator, "GET", `/channels/${channel.id}/variable?variable=A`)).body.value, "b")
  await until(() => events.length === 1)
  await channel.hangup()
  await until(() => events.length === 2)
  t.strictSame(events, ["started Up", "ended 16"])
  t.match(emulator.log.of(channel.id).at(-1), { kind: "ended", by: "us" })
  client.stop()
})
