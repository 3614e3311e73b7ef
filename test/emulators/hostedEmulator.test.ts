/** What the emulators of hosted carriers share: a server that misbehaves on demand, a sender of callbacks, and the life of a call. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import t, { type Test } from "tap"
import { CallbackSender } from "#test/emulators/shared/CallbackSender.ts"
import { CalleeLog } from "#test/emulators/shared/CalleeLog.ts"
import { type CallEnd, CallLives } from "#test/emulators/shared/CallLife.ts"
import { type CarrierAsk, CarrierServer } from "#test/emulators/shared/CarrierServer.ts"
import { untilTrue } from "#test/support/until.ts"

t.test("given a carrier's server", async (t) => {
  let acted = 0
  const server = new CarrierServer(() => ({ status: 201, body: { acted: ++acted } }))
  await server.listen()
  t.teardown(() => server.stop())
  const ask = (path: string) => fetch(`${server.url}${path}`, { method: "POST", body: "a=1", headers: { connection: "close" } })
  const isCall = ({ path }: CarrierAsk) => path === "/calls"

  t.strictSame(await (await ask("/calls?x=1")).json(), { acted: 1 })
  t.match(server.requests, [{ method: "POST", path: "/calls", body: "a=1" }])

  server.fail({ acts: true, reply: "reset" }, isCall)
  t.equal((await ask("/other")).status, 201, "a fault waits for the request that it is meant for")
  await t.rejects(ask("/calls"))
  t.equal(acted, 3, "the carrier acted although its reply was lost")

  server.fail({ acts: false, reply: { status: 502, body: "<html></html>" } }, isCall)
  const page = await ask("/calls")
  t.strictSame([page.status, page.headers.get("content-type"), acted], [502, "text/html", 3])

  await server.refuseConnections(true)
  await t.rejects(ask("/calls"))
  await server.refuseConnections(false)
  t.equal((await ask("/calls")).status, 201, "it is back on its port")
})

/** Receives callbacks, and answers 503 to the first ones. */
const takeCallbacks = async (t: Test, failures = 0) => {
  const bodies: Array<string> = []
  const server = createServer(async (request, response) => {
    let body = ""
    for await (const chunk of request) body += chunk
    bodies.push(body)
    response.writeHead(bodies.length <= failures ? 503 : 200).end("taken")
  })
  await new Promise<void>((resolve) => server.listen({ port: 0, host: "127.0.0.1" }, resolve))
  t.teardown(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/#rc=3` // listening on TCP, so neither a path nor null
  return { bodies, send: (sender: CallbackSender, body: string) => sender.send("call", { url, headers: {}, body }) }
}

t.test("given callbacks", async (t) => {
  t.test("when they are held, then they are sent in the requested order", async (t) => {
    const sender = new CallbackSender()
    const { bodies, send } = await takeCallbacks(t)
    sender.hold()
    for (const body of ["1", "2", "3"]) send(sender, body)
    t.equal(sender.held(), 3)
    sender.release("reversed")
    await sender.settled()
    t.strictSame(bodies, ["3", "2", "1"])
    sender.hold()
    send(sender, "lost")
    sender.lose()
    sender.copies = 2
    sender.delayMillis = 50
    const before = performance.now()
    send(sender, "4")
    await sender.settled()
    t.strictSame(bodies, ["3", "2", "1", "4", "4"])
    t.ok(performance.now() - before > 90, "each comes late")
  })
  t.test("when they are answered with an error, then they are sent again", async (t) => {
    const sender = new CallbackSender({ retries: 2 })
    const { bodies, send } = await takeCallbacks(t, 1)
    send(sender, "1")
    await sender.settled()
    t.strictSame(bodies, ["1", "1"])
    t.match(sender.deliveries, [{ status: 503 }, { status: 200, reply: "taken" }])
  })
})

t.test("given calls", async (t) => {
  const lives = new CallLives(new CalleeLog(), { ringMillis: 20, talkMillis: 20 })
  const dial = (number: string, ringTimeoutSeconds = 30) => {
    const story: Array<string> = []
    let end: CallEnd | undefined
    const life = lives.dial(
      { id: number, number, ringTimeoutSeconds, shown: "" },
      { ringing: () => void story.push("ringing"), answered: () => void story.push("answered"), ended: (ended) => void (end = ended) }
    )
    return { life, story, ended: async () => (await untilTrue("end", () => end !== undefined)) && end }
  }
  const answering = dial("+15550001001")
  const busy = dial("+15550001002")
  const silent = dial("+15550001003", 0.2)
  t.match(await answering.ended(), { by: "callee", ending: { cause: 16 }, talkMillis: Number })
  t.strictSame(answering.story, ["ringing", "answered"])
  t.match(await busy.ended(), { by: "callee", ending: { sipStatus: 486 }, talkMillis: undefined })
  t.match(await silent.ended(), { by: "timeout", ending: undefined })

  lives.letRing(true)
  const waiting = dial("+15550001011")
  await untilTrue("ringing", () => waiting.life.state === "ringing")
  lives.letRing(false)
  await untilTrue("answer", () => waiting.life.state === "up")
  t.ok(waiting.life.hangUp())
  t.notOk(waiting.life.hangUp(), "it ends once")
  t.match(await waiting.ended(), { by: "us" })
  t.equal(lives.log.live(), 0)
})
