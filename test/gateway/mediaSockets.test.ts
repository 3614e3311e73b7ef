/** The websockets of carriers at the gateway: which are admitted, and what each may cost. */
import { Layer } from "effect"
import t, { type Test } from "tap"
import { type ClientOptions, WebSocket } from "ws"
import { CarrierMedia, type MediaAdmission, type MediaUpgrade } from "#core/provider/CarrierMedia.ts"
import type { MediaSocket } from "#core/provider/MediaSocket.ts"
import { serve } from "#gateway/api.ts"
import { mountMediaSockets } from "#gateway/http/mediaSockets.ts"
import { until, untilTrue } from "#test/support/until.ts"
import { keys, raw, site, started } from "./gatewayTest.ts"

// Most of the time is spent waiting for idle connections.
t.jobs = 3

interface Heard {
  readonly socket: MediaSocket
  readonly messages: Array<readonly [data: Buffer, isText: boolean]>
  readonly ends: Array<string>
}

const scene = async (t: Test, limits: { readonly idleSeconds?: number; readonly firstMessageMillis?: number } = {}) => {
  const upgrades: Array<MediaUpgrade> = []
  const calls: Array<Heard> = []
  const admit = (upgrade: MediaUpgrade): MediaAdmission => {
    upgrades.push(upgrade)
    const { call, seal } = upgrade.address
    if (seal !== "sealed") return { _tag: "Refused", status: 403 }
    if (call === "gone") return { _tag: "Refused", status: 404 }
    const open = (socket: MediaSocket) => {
      const heard: Heard = { socket, messages: [], ends: [] }
      calls.push(heard)
      return {
        message: (data: Uint8Array, isText: boolean) => void heard.messages.push([Buffer.from(data), isText]),
        closed: (how: string) => void heard.ends.push(how)
      }
    }
    return { _tag: "Admitted", open }
  }
  const gateway = await started(
    t,
    serve([], { host: "127.0.0.1", port: 0 }, (app) =>
      mountMediaSockets(app, ["x-acme-signature"], { firstMessageMillis: 60_000, idleSeconds: 60, ...limits })
    ).pipe(Layer.provide([keys, site, Layer.succeed(CarrierMedia, { admit })]))
  )
  const connect = async (path = "call-1/sealed", options: ClientOptions = {}) => {
    const client = new WebSocket(`ws://127.0.0.1:${gateway.port}/api/v1/carrier-media/${path}`, options)
    t.teardown(() => client.terminate())
    const received: Array<readonly [data: Buffer, isBinary: boolean]> = []
    client.on("message", (data, isBinary) => {
      // The cast holds because with the socket's default binaryType, each message is a Buffer.
      received.push([data as Buffer, isBinary])
    })
    const closed = new Promise<number>((resolve) => client.on("close", resolve))
    const status = await new Promise<number>((resolve) => {
      client.on("open", () => resolve(101))
      client.on("unexpected-response", (request, { statusCode = 0 }) => {
        request.destroy()
        resolve(statusCode)
      })
      client.on("error", () => {})
    })
    return { client, closed, received, status }
  }
  return { calls, connect, gateway, upgrades }
}

t.test("given a carrier that connects", { buffered: true }, async (t) => {
  const { calls, connect, gateway, upgrades } = await scene(t)
  t.equal((await connect("call-1/forged")).status, 403)
  t.equal((await connect("gone/sealed")).status, 404)
  t.equal((await connect("call-1/sealed/more")).status, 404, "no such address")
  t.strictSame(calls, [], "then nothing was opened for those")

  const { client, closed, received, status } = await connect("call-1/sealed?a=%20b", { headers: { "x-acme-signature": "s", cookie: "c" } })
  t.equal(status, 101)
  t.strictSame(upgrades.at(-1), { address: { call: "call-1", seal: "sealed" }, headers: { "x-acme-signature": "s" }, query: "a=%20b" })
  t.equal(client.extensions, "", "then nothing is compressed, although the client offers compression")
  const call = await until("call", () => calls[0])
  client.send("hello")
  client.send(Buffer.from([1, 2, 3]))
  await untilTrue("messages", () => call.messages.length === 2)
  t.strictSame(call.messages, [
    [Buffer.from("hello"), true],
    [Buffer.from([1, 2, 3]), false]
  ])
  const reused = Buffer.from("text")
  t.strictSame([call.socket.sendText(reused), call.socket.sendText("more"), call.socket.sendBytes(Buffer.from([9]))], [true, true, true])
  reused.fill(0)
  await untilTrue("answers", () => received.length === 3)
  t.strictSame(received, [
    [Buffer.from("text"), false],
    [Buffer.from("more"), false],
    [Buffer.from([9]), true]
  ])
  call.socket.close(1000, "over")
  t.equal(await closed, 1000)
  t.strictSame([call.ends, call.socket.sendText("late"), call.socket.bufferedBytes()], [["ended"], false, 0])
  call.socket.close(1000, "again")
  const plain = await raw(gateway, "GET /api/v1/carrier-media/call-1/sealed HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
  t.match(plain, /^HTTP\/1.1 404/, "without an upgrade there is nothing at the address")
})

t.test("given a carrier that ends the connection", { buffered: true }, async (t) => {
  const { calls, connect } = await scene(t)
  const endAfter = async (act: (client: WebSocket) => void) => {
    const { client } = await connect()
    const call = await until("call", () => calls.at(-1))
    client.send("hello")
    await untilTrue("message", () => call.messages.length > 0)
    act(client)
    await untilTrue("end", () => call.ends.length > 0)
    calls.length = 0
    return call.ends
  }
  t.strictSame(await endAfter((client) => client.close(1000)), ["ended"])
  t.strictSame(await endAfter((client) => client.close()), ["ended"])
  t.strictSame(await endAfter((client) => client.terminate()), ["unknown"])
  t.strictSame(await endAfter((client) => client.close(1011)), ["unknown"])
  t.strictSame(await endAfter((client) => client.send("x".repeat(65_537))), ["unknown"], "longer than any message may be")
})

t.test("given a carrier that sends nothing, then it is cut off", { buffered: true }, async (t) => {
  const { calls, connect } = await scene(t, { firstMessageMillis: 50 })
  const silent = await connect()
  t.equal(await silent.closed, 4408)
  t.strictSame(calls[0]?.ends, ["failed"])
})

t.test("given a carrier that sends one message and answers pings, then it may be silent for long", { buffered: true }, async (t) => {
  const { calls, connect } = await scene(t, { firstMessageMillis: 600_000, idleSeconds: 8 })
  const [alive, mute] = [await connect(), await connect("call-2/sealed", { autoPong: false })]
  alive.client.send("hello")
  mute.client.send("hello")
  t.equal(await mute.closed, 1006, "one that does not answer is cut off")
  const ends = calls.map(({ ends }) => ends)
  t.strictSame(ends, [[], ["failed"]])
  t.equal(alive.client.readyState, WebSocket.OPEN)
})

t.test("given a carrier that does not read, then two seconds are kept for it, and the rest is dropped", { buffered: true }, async (t) => {
  const { calls, connect } = await scene(t)
  const { client, received } = await connect()
  const call = await until("call", () => calls[0])
  client.pause()
  const frame = "x".repeat(300)
  let sent = 0
  // The kernel's buffers are filled first.
  while (call.socket.sendText(frame)) {
    sent++
    if (sent % 1000 === 0) await new Promise((resolve) => setImmediate(resolve))
    if (sent > 1_000_000) break
  }
  // Up to the limit, plus the message that exceeds it.
  t.ok(call.socket.bufferedBytes() > 16_000 && call.socket.bufferedBytes() < 32_768 + 400, `${call.socket.bufferedBytes()} bytes wait`)
  t.equal(call.socket.sendText(frame), false)
  client.resume()
  await untilTrue("rest", () => received.length === sent)
  t.equal(call.socket.sendText(frame), true, "then it continues")
  await untilTrue("more", () => received.length === sent + 1)
})

t.test(
  "given a carrier that says more than is spoken, then it is cut off, and so is whoever connects there again",
  { buffered: true },
  async (t) => {
    const { calls, connect } = await scene(t)
    const flood = await connect()
    // As after a network that has held up ten seconds of audio.
    for (let said = 0; said < 500; said++) flood.client.send("x".repeat(300))
    const call = await until("call", () => calls[0])
    await untilTrue("burst", () => call.messages.length === 500)
    t.equal(flood.client.readyState, WebSocket.OPEN)
    for (let said = 0; said < 100_000; said++) flood.client.send("x".repeat(300))
    t.equal(await flood.closed, 1008)
    t.strictSame(call.ends, ["failed"])
    t.ok(call.messages.length < 50_000, `${call.messages.length} messages were handled`)

    const again = await connect()
    for (let said = 0; said < 100_000; said++) again.client.send("x".repeat(300))
    t.equal(await again.closed, 1008)
    const other = await connect("call-2/sealed")
    other.client.send("hello")
    await untilTrue("word of another call", () => calls[2]?.messages.length === 1)
  }
)
