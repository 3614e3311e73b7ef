/** Clients keep the thread busy with expensive requests. A client that sends few requests is still answered. */
import { Effect } from "effect"
import t from "tap"
import Type from "typebox"
import { route } from "#gateway/request/Route.ts"
import { until, untilTrue } from "#test/support/until.ts"
import { goodKey, send, serving } from "./gatewayTest.ts"

const Done = Type.Object({ done: Type.Boolean() })
const done = Effect.succeed({ done: true })
const BUSY_MILLIS = 15
const atOnce = 20

/** While true, each request keeps the thread busy, which is also that of the clients here. */
let isBusy = true
const work = Effect.sync(() => {
  const end = performance.now() + BUSY_MILLIS
  while (isBusy && performance.now() < end);
  return { done: true }
})
const common = { name: "x", summary: "", description: "", success: Done } as const
const hog = route({ ...common, method: "post", path: "/hog", access: "none", body: Done, handle: () => work })
const light = route({ ...common, method: "get", path: "/light", access: "api-key", handle: () => done })

t.test("given clients that keep the thread busy", async (t) => {
  const gateway = await serving(t, [hog, light], { shedsLoad: true })
  const asNeighbour = () => send(gateway, "GET", "/light", { key: goodKey })
  const asStranger = () => send(gateway, "POST", "/hog", { json: { done: true } })
  const answers: Array<Awaited<ReturnType<typeof asStranger>>> = []
  let isOn = true
  const flood = Array.from({ length: atOnce }, async () => {
    while (isOn) answers.push(await asStranger())
  })
  const others: Array<number> = []
  await untilTrue("strangers who are refused", async () => {
    others.push((await asNeighbour()).status)
    return answers.some(({ status }) => status === 503)
  })
  for (let i = 0; i < 50; i++) others.push((await asNeighbour()).status)
  const areServed = others.every((status) => status === 200)
  t.ok(areServed, "then their neighbour is never refused")
  const refused = answers.find(({ status }) => status === 503)
  t.equal(refused?.headers["retry-after"], "1")
  t.match(refused?.json, { detail: /cannot keep up/ })
  const areKnown = answers.every(({ status }) => status === 200 || status === 503)
  t.ok(areKnown, "then their requests have no other results")
  isBusy = false
  const before = await until("an end of the refusals", () => {
    const newest = answers.slice(-200)
    return newest.length === 200 && newest.every(({ status }) => status === 200) ? answers.length : undefined
  })
  t.ok(before > 0, "then they are answered again once the thread keeps up")
  isOn = false
  await Promise.all(flood)
})
