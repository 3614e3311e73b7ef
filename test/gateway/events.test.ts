/** Events as clients see them: listed, followed as server-sent events, and over a websocket. */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import t from "tap"
import { WebSocket } from "ws"
import { until } from "#test/support/engine.ts"
import { openApi } from "./apiTest.ts"
import { followersOf, told, type Told } from "./followers.ts"

// A client that does not read is cut off after this time. On a busy machine, these tests take longer than the usual half minute.
const limits = { answerMillis: 600_000 }
const api = await openApi(t, Layer.empty, { limits })
const { ask, askAsOther, makeCampaign, sql } = api
const key = "dgr_ours_0000000000"
const otherKey = "dgr_other_000000000"

// The cast holds because the answer was checked against its schema.
const eventsOf = (answer: { readonly json: unknown }) =>
  answer.json as { readonly events: ReadonlyArray<Told>; readonly next_after_id: number }
const list = async (query = "") => eventsOf(await ask("GET", `/events${query}`))
/** The id of the newest event, once everything that has been written has been put in order. */
const newest = async () => {
  await until("order", async () => {
    const waiting = await sql`SELECT 1 FROM event_outbox LIMIT 1`
    return waiting.length === 0 || undefined
  })
  let at = 0
  while (true) {
    const { events, next_after_id } = await list(`?after_id=${at}&limit=500`)
    if (events.length === 0) return at
    at = next_after_id
  }
}

const setState = (id: number, state: string) => sql`UPDATE campaigns SET state = ${state} WHERE id = ${id}`
/** A campaign that is started, paused, resumed and completed: five events. */
const live = async () => {
  const { id } = await makeCampaign()
  for (const state of ["running", "paused", "running", "completed"]) await setState(id, state)
  return id
}
const happensToOthers = () => sql`SELECT add_event(${api.otherId}::int, 'webhook.test', 'others', '{}')`
const newestOfOthers = async () => {
  const [row] = await sql<{ readonly id: number }>`
    SELECT coalesce(max(id), 0) AS id FROM events WHERE organization_id <> ${api.organizationId}`
  return row?.id ?? 0
}
const lived = ["campaign.created", "campaign.started", "campaign.paused", "campaign.resumed", "campaign.completed"]
const typesOf = (events: ReadonlyArray<Told>) => events.map(({ type }) => type)

const { socket, stream } = followersOf(api, key)

t.test("given what happened to a campaign", async (t) => {
  const before = await newest()
  const id = await live()
  const events = await until("events", async () => {
    const found = (await list(`?after_id=${before}`)).events
    return found.length >= lived.length ? found : undefined
  })

  t.test("when events are listed, then they are in order, with their subjects", async (t) => {
    t.strictSame(typesOf(events), lived)
    t.match(events[0], {
      specversion: "1.0",
      source: `/organizations/${api.organizationId}`,
      subject: `campaigns/${id}`,
      data: { campaign_id: id, name: "Spring", state: "draft", total_rows: 2 }
    })
    t.match(events[2], { data: { state: "paused", previous_state: "running" } })
  })

  t.test("when they are read in pages, then nothing is left out or repeated", async (t) => {
    const first = await list(`?after_id=${before}&limit=2`)
    const second = await list(`?after_id=${first.next_after_id}&limit=2`)
    const third = await list(`?after_id=${second.next_after_id}&limit=2`)
    const end = await list(`?after_id=${third.next_after_id}`)
    t.strictSame([...first.events, ...second.events, ...third.events], events)
    t.strictSame(end, { events: [], next_after_id: third.next_after_id })
  })

  t.test("when only some types are selected, then only these come", async (t) => {
    const some = await list(`?after_id=${before}&types=campaign.paused,campaign.completed`)
    t.strictSame(typesOf(some.events), ["campaign.paused", "campaign.completed"])
    t.equal((await list(`?after_id=${before}&types=campaign.paused&limit=1`)).next_after_id, Number(events.at(-1)?.id))
    t.match(await ask("GET", "/events?types=campaign.exploded"), { status: 422, json: { detail: [{ loc: ["query", "types"] }] } })
    t.equal((await ask("GET", "/events?after_id=-1")).status, 422)
    t.equal((await ask("GET", "/events?after_id=99999999999999999999")).status, 422)
  })

  t.test("when another organization reads events, then there are none of these", async (t) => {
    t.strictSame(eventsOf(await askAsOther("GET", "/events")).events, [])
  })

  t.test("when the campaign was stopped with a reason in its log, then the event names it", async (t) => {
    const { id } = await makeCampaign()
    const at = await newest()
    await setState(id, "running")
    await ask("POST", `/campaign/${id}/pause`)
    const [, paused] = await until("events", async () => {
      const found = (await list(`?after_id=${at}&types=campaign.started,campaign.paused`)).events
      return found.length === 2 ? found : undefined
    })
    t.match(paused, { data: { reason: "campaign_paused" } })
  })
})

t.test("given a change, when its transaction is rolled back, then there is no event", async (t) => {
  const { id } = await makeCampaign()
  const at = await newest()
  await api.database.run(
    SqlClient.SqlClient.use((sql) =>
      Effect.ignore(sql.withTransaction(Effect.andThen(sql`UPDATE campaigns SET state = 'running' WHERE id = ${id}`, Effect.fail("no"))))
    )
  )
  await setState(id, "failed")
  const found = await until("event", async () => {
    const { events } = await list(`?after_id=${at}`)
    return events.some(({ type }) => type === "campaign.failed") ? events : undefined
  })
  const ofCampaign = found.filter(({ subject, type }) => subject === `campaigns/${id}` && type !== "campaign.created")
  t.strictSame(typesOf(ofCampaign), ["campaign.failed"])
})

t.test("given two transactions, the first of which commits last, when a follower saw the second, then it sees the first too", async (t) => {
  const after = await newest()
  const follower = stream(t, `?last_event_id=${after}&types=campaign.started`)
  const add = (n: number) =>
    SqlClient.SqlClient.use((sql) => sql`SELECT add_event(${api.organizationId}, 'campaign.started', ${`campaigns/${n}`}, '{}')`)
  await api.database.run(
    SqlClient.SqlClient.use((sql) =>
      sql.withTransaction(
        Effect.gen(function* () {
          yield* add(1)
          yield* Effect.promise(() => api.database.run(add(2)))
          yield* Effect.promise(() => told(follower, 1))
        })
      )
    )
  )
  const [first, second] = await told(follower, 2)
  t.strictSame([first?.subject, second?.subject], ["campaigns/2", "campaigns/1"])
  t.ok(Number(first?.id) < Number(second?.id))
})

for (const [name, open] of [
  ["server-sent events", stream],
  ["a websocket", socket]
] as const) {
  t.test(`given a client that follows by ${name}`, async (t) => {
    t.test("when events happen, then it gets each once and in order, and continues where it was after a break", async (t) => {
      const after = await newest()
      const first = open(t, `?last_event_id=${after}`)
      await live()
      const seen = [...(await told(first, lived.length))]
      t.strictSame(typesOf(seen), lived)
      first.close()
      await live()
      const second = open(t, `?last_event_id=${seen[1]?.id}`)
      await told(second, 3 + lived.length)
      await live()
      const more = await told(second, 3 + 2 * lived.length)
      t.strictSame(typesOf(more), [...lived.slice(2), ...lived, ...lived])
      const ids = [...seen.slice(0, 2), ...more].map(({ id }) => Number(id))
      t.strictSame(
        ids,
        [...new Set(ids)].sort((a, b) => a - b)
      )
    })

    t.test("when it names no event, or one in the future, then it gets events from now on", async (t) => {
      const plain = open(t, "?types=campaign.completed")
      const ahead = open(t, "?types=campaign.completed&last_event_id=4000000000")
      // Until both follow, an event may come too early for one of them.
      await until("both", async () => {
        await live()
        return (plain.messages.length > 0 && ahead.messages.length > 1) || undefined
      })
      const [notice, ...since] = ahead.messages
      t.match(notice, { type: "events.gap", data: { after_id: 4000000000 } })
      t.ok([...plain.messages, ...since].every(({ type }) => type === "campaign.completed"))
    })

    t.test("when something happens to another organization, then it gets no event", async (t) => {
      const after = await newest()
      const theirs = open(t, `?last_event_id=${await newestOfOthers()}`, { "x-api-key": otherKey })
      const ours = open(t, `?last_event_id=${after}`)
      await live()
      await told(ours, lived.length)
      await happensToOthers()
      await told(theirs, 1)
      t.match(theirs.messages, [{ type: "webhook.test", subject: "others" }])
    })
  })
}

t.test("given a stream", async (t) => {
  t.test("when a browser reconnects, then its header takes precedence over the address", async (t) => {
    const after = await newest()
    const id = await live()
    const all = stream(t, `?last_event_id=${after}`)
    const seen = await told(all, lived.length)
    const back = stream(t, `?last_event_id=${after}`, { "x-api-key": key, "last-event-id": String(seen[3]?.id) })
    t.match(await told(back, 1), [{ type: "campaign.completed", subject: `campaigns/${id}` }])
    t.match(back.state, { status: 200, contentType: "text/event-stream" })
  })

  t.test("when the credential or the query is wrong, then it does not start", async (t) => {
    t.equal((await ask("GET", "/events/stream", undefined, { key: null })).status, 401)
    t.equal((await ask("GET", "/events/stream?last_event_id=x")).status, 422)
  })
})

t.test("given a client that does not read, when more happens than is buffered for it, then it gets everything once it reads", async (t) => {
  const after = await newest()
  const total = 6000
  const query = "&types=campaign.redialed"
  const slow = stream(t, `?last_event_id=${after}${query}`)
  const fast = stream(t, `?last_event_id=${after}${query}`)
  const add = (from: number, until: number) => sql`
      SELECT add_event(${api.organizationId}, 'campaign.redialed', 'campaigns/' || n, jsonb_build_object('filler', repeat('x', 4000)))
      FROM generate_series(${from}::int, ${until}::int) AS n`
  await add(1, 1)
  await Promise.all([told(slow, 1), told(fast, 1)])
  slow.pause(true)
  await add(2, total)
  await told(fast, total)
  slow.pause(false)
  const subjects = (await told(slow, total)).map(({ subject }) => subject)
  t.strictSame(
    subjects,
    Array.from({ length: total }, (_, before) => `campaigns/${before + 1}`)
  )
})

t.test("given a websocket", async (t) => {
  t.test("when the credential is wrong or missing, then it is closed with 4401", async (t) => {
    t.equal((await socket(t, "", {}).closed).code, 4401)
    t.equal((await socket(t, "?api_key=wrong", {}).closed).code, 4401)
    t.equal((await socket(t, `?api_key=${key}`, { "x-api-key": "wrong" }).closed).code, 4401)
  })

  t.test("when the query is wrong, then it is closed with 4400", async (t) => {
    t.equal((await socket(t, "?last_event_id=x").closed).code, 4400)
    t.equal((await socket(t, "?types=nothing").closed).code, 4400)
  })

  t.test("when the key comes in the address or as a bearer token, then it is accepted", async (t) => {
    const after = await newest()
    await live()
    await told(socket(t, `?api_key=${key}&last_event_id=${after}`, {}), lived.length)
    await told(socket(t, `?last_event_id=${after}`, { authorization: `Bearer ${key}` }), lived.length)
  })

  t.test("when it sends too much, then it is closed", async (t) => {
    const ws = new WebSocket(`ws://127.0.0.1:${api.port}/api/v1/events/ws`, { headers: { "x-api-key": key } })
    const closed = new Promise((resolve) => ws.once("close", resolve))
    ws.on("error", () => undefined)
    ws.once("open", () => ws.send("x".repeat(5000)))
    t.equal(await closed, 1006)
  })

  t.test("when its address is requested without an upgrade, then 426", async (t) => {
    t.match(await ask("GET", "/events/ws"), { status: 426, json: { detail: "This URL is for websockets only" } })
  })
})

t.test("given clients that follow, when the service stops, then both kinds of connections end at once, and each says why", async (t) => {
  const after = await newest()
  await live()
  const [followed, listening] = [stream(t, `?last_event_id=${after}`), socket(t, `?last_event_id=${after}`)]
  await Promise.all([followed, listening].map((one) => told(one, lived.length)))
  // Its key is still being looked up.
  const unknown = socket(t, "", { "x-api-key": "wrong" })
  await unknown.opened
  await api.stop()
  t.equal((await listening.closed).code, 1001)
  t.equal((await unknown.closed).code, 4401)
  await until("the stream's end", () => followed.state.isOver || undefined)
})
