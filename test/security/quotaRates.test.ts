/**
 * Followers and requests are counted before anything is awaited. Before, 400 sockets at once passed a limit of 100, because each was checked
 * before any of them was counted; and an organization could send any number of requests.
 */
import { once } from "node:events"
import t, { type Test } from "tap"
import { WebSocket } from "ws"
import { openApi } from "#test/gateway/apiTest.ts"
import { until } from "#test/support/until.ts"
import { counts, quotasOf, times } from "./quotas.ts"

const api = await openApi(t)
const { operator, set } = await quotasOf(api)
const key = await api.makeKey()
const ask = (method: string, path: string) => api.ask(method, path, undefined, { key })
const following = async () => ((await ask("GET", "/organizations/quotas")).json as { followers: { used: number } }).followers.used // As documented.
/** Opens a websocket that ends with the test. */
const follow = (t: Test) => {
  const socket = new WebSocket(`ws://127.0.0.1:${api.port}/api/v1/events/ws`, { headers: { "x-api-key": key } })
  t.teardown(() => socket.terminate())
  return socket.on("error", () => undefined)
}
const count = (many: number, asKey = key) => Promise.all(times(many, () => api.ask("GET", "/workflow/count", undefined, { key: asKey })))
const most = 100
const many = 400

t.test("given room for a hundred followers, when four hundred sockets come at once, then a hundred stay", async (t) => {
  const sockets = times(many, () => follow(t))
  const codes: Array<number> = []
  for (const socket of sockets) socket.on("close", (code) => codes.push(code))
  await until("refused sockets", () => (codes.length >= many - most ? codes : undefined))
  t.strictSame(new Set(codes), new Set([4429]))
  t.equal(await following(), most)

  const stream = await ask("GET", "/events/stream")
  t.strictSame(
    [stream.status, stream.json, stream.headers["retry-after"]],
    [429, { detail: `An organization may have at most ${most} event connections` }, "5"]
  )

  const open = sockets.filter(({ readyState }) => readyState === WebSocket.OPEN)
  t.equal(open.length, most)
  open[0]?.close()
  await until("a place", async () => ((await following()) === most - 1 ? true : undefined))
  await once(follow(t), "open")
  await until("the place taken", async () => ((await following()) === most ? true : undefined))
  for (const socket of sockets) socket.close()
})

t.test("given room for three followers, when forty ask for server-sent events at once, then three are told", async (t) => {
  await until("places", async () => ((await following()) <= 1 ? true : undefined))
  const there = await following()
  await set({ followers: there + 3 })
  const gone = new AbortController()
  t.teardown(() => gone.abort())
  const url = `http://127.0.0.1:${api.port}/api/v1/events/stream`
  const answers = await Promise.all(times(40, () => fetch(url, { headers: { "x-api-key": key }, signal: gone.signal })))
  t.strictSame(counts(answers), { 200: 3, 429: 37 })
  gone.abort()
  await until("places again", async () => ((await following()) === there ? true : undefined))
})

t.test("given ten requests at once and one a second", async (t) => {
  await set({ requests_per_second: 1, request_burst: 10 })

  t.test("when sixty come at once, then ten are answered and the others are told when to come back", async (t) => {
    const answers = await count(60)
    const refused = answers.filter(({ status }) => status === 429)
    const answered = answers.length - refused.length
    // A busy machine takes a second or two to answer all of them.
    t.ok(answered >= 10 && answered <= 20, `${answered} answered`)
    t.match(refused[0], { headers: { "retry-after": "1" }, json: { detail: "The organization may send 1 requests per second" } })
  })

  t.test("when another of its keys is used, then it shares them, and another organization does not", async (t) => {
    t.ok((await count(20, await api.makeKey({ role: "viewer" }))).some(({ status }) => status === 429))
    t.equal((await api.askAsOther("GET", "/workflow/count")).status, 200)
  })

  t.test("when the operator asks, then that is not counted", async (t) => {
    t.ok((await count(40, operator)).every(({ status }) => status === 200))
  })

  t.test("when a socket comes, then it counts as well", async (t) => {
    await count(20)
    const [code, reason] = await once(follow(t), "close")
    t.strictSame([code, String(reason)], [4429, "Too many requests"])
  })
})
