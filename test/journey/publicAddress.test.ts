/**
 * An engine behind a proxy that forwards requests under a host name of its own, as nginx does by default. Judged by whether
 * phones ring while the carrier cannot reach the engine.
 */
import { createServer, request, type IncomingMessage } from "node:http"
import t, { type Test } from "tap"
import { contactStates, numbersOf, untilTrue } from "#test/support/engine.ts"
import { freePort } from "#test/support/freePort.ts"
import { localPort } from "#test/support/localPort.ts"
import { carriers, openThrough } from "#test/support/hostedCarriers.ts"
import { callsIn, deafIn } from "./deaf.ts"

/** Forwards to this port as `trunkline:8000`, over a connection for each request: clients ask to close theirs, and that is passed on. */
const startProxy = async (t: Test, port: number) => {
  const proxy = { passesUpgrades: true, url: "" }
  const options = ({ headers, method, url }: IncomingMessage) => ({
    agent: false,
    headers: { ...headers, host: "trunkline:8000" },
    host: "127.0.0.1",
    method,
    path: url,
    port
  })
  const http = createServer((asked, answer) => {
    const forwarded = request(options(asked), (reply) => {
      answer.writeHead(reply.statusCode ?? 502, reply.headers)
      reply.pipe(answer)
    })
    forwarded.on("error", () => answer.writeHead(502).end())
    asked.pipe(forwarded)
  })
  http.on("upgrade", (asked, socket, head) => {
    socket.on("error", () => socket.destroy())
    if (!proxy.passesUpgrades) return void socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
    const forwarded = request(options(asked))
    forwarded.on("error", () => socket.destroy())
    forwarded.on("response", ({ statusCode }) => socket.end(`HTTP/1.1 ${statusCode} \r\nconnection: close\r\ncontent-length: 0\r\n\r\n`))
    forwarded.on("upgrade", (reply, upstream, first) => {
      const lines = Object.entries(reply.headers).map(([name, value]) => `${name}: ${value}`)
      socket.write(["HTTP/1.1 101 Switching Protocols", ...lines, "", ""].join("\r\n"))
      socket.write(first)
      upstream.on("error", () => upstream.destroy())
      upstream.write(head)
      socket.pipe(upstream).pipe(socket)
    })
    forwarded.end()
  })
  proxy.url = `http://127.0.0.1:${await localPort(http)}`
  t.teardown(() => {
    http.closeAllConnections()
    http.close()
  })
  return proxy
}

t.test("given a proxy that sends its upstream's name, and at first passes no websockets on", async (t) => {
  const people = 2
  const carrier = await carriers["Twilio"]?.(t, { ringMillis: 100, talkMillis: 500, talkOnceHeard: true })
  if (carrier === undefined) throw new Error("no carrier")
  const { log } = carrier
  const port = await freePort()
  const proxy = await startProxy(t, port)
  proxy.passesUpgrades = false
  const world = await openThrough(t, carrier, {
    environment: { PORT: String(port), PUBLIC_URL: proxy.url },
    greeting: "Hello there, and good morning to all of you."
  })
  const { id } = await world.campaign(numbersOf(people, ["01"]), { max_concurrency: people, retry: { maxRetries: 0 } })
  await world.api.start(id)
  const reasons = async () =>
    (await world.api.campaign(id)).logs.filter(({ event }) => event.startsWith("telephony_")).map(({ details }) => details)
  await untilTrue("reason", async () => /Websockets do not reach this engine.*HTTP 400/.test(JSON.stringify(await reasons())))
  t.equal(carrier.dials().length, 0, "then nobody's phone rings")
  proxy.passesUpgrades = true
  await world.api.untilState(id, "completed")
  t.strictSame(await contactStates(world.sql, id), { completed: people })
  t.equal(log.count("originate"), people, "and once it passes them on, then everybody is called once")
  t.strictSame(deafIn(log, callsIn(log)), [], "and every callee hears the agent")

  await t.test("when requests about a call that is up have a wrong signature, then its campaign's log says so, once", async (t) => {
    const [number = ""] = numbersOf(1, ["11"], "+1556")
    const { id } = await world.campaign([number], { retry: { maxRetries: 0 } })
    const earlier = carrier.callbacks.deliveries.length
    const reports = () => carrier.callbacks.deliveries.slice(earlier)
    await world.api.start(id)
    await untilTrue("answer", () => reports().some(({ body, status }) => status === 200 && body.includes("in-progress")))
    const headers = { "content-type": "application/x-www-form-urlencoded", "x-twilio-signature": "AAAAAAAAAAAAAAAAAAAAAAAAAAA=" }
    const forge = (status: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const forged = request(reports()[0]?.url ?? "", { method: "POST", headers }, (reply) => {
          reply.resume()
          resolve(reply.statusCode)
        })
        forged.on("error", reject)
        forged.end(`CallStatus=${status}`)
      })
    t.strictSame([await forge("completed"), await forge("busy")], [403, 403])
    const told = async () => (await world.api.campaign(id)).logs.filter(({ event }) => event === "carrier_request_refused")
    await untilTrue("entry", async () => (await told()).length > 0)
    t.match(await told(), [{ details: { request: "callback" }, level: "warning", message: /signature is wrong/ }])
    t.equal((await told()).length, 1)
    t.match(world.engine.output(), /its signature is wrong/)
    t.notMatch(world.engine.output(), number.slice(1))
  })
})

t.test("given a proxy that passes no websockets on, when the address is not to be checked, then calls are placed", async (t) => {
  const carrier = await carriers["Twilio"]?.(t, { ringMillis: 100, talkMillis: 100 })
  if (carrier === undefined) throw new Error("no carrier")
  const port = await freePort()
  const proxy = await startProxy(t, port)
  proxy.passesUpgrades = false
  const world = await openThrough(t, carrier, { environment: { PORT: String(port), PUBLIC_URL: proxy.url, PUBLIC_URL_CHECK: "off" } })
  const { id } = await world.campaign(numbersOf(1, ["01"]), { retry: { maxRetries: 0 } })
  await world.api.start(id)
  await world.api.untilState(id, "completed")
  t.equal(carrier.dials().length, 1)
})
