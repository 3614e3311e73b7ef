/** What followers of events see of the database, where they continue after a break, and for how long they may follow. */
import { SqlClient } from "effect/sql"
import t, { type Test } from "tap"
import { prune, prunedAtOnce } from "#core/event/EventStore.ts"
import { until, untilTrue } from "#test/support/engine.ts"
import { bodyOf, openApi } from "./apiTest.ts"
import { checkedOften, followersOf, type Told, told } from "./followers.ts"

const api = await openApi(t, checkedOften)
const { ask, database, makeKey, organizationId, otherId, sql } = api
const ways = followersOf(api, "dgr_ours_0000000000")
const bothWays = ["socket", "stream"] as const

const add = (subjects: ReadonlyArray<string>, organization: number = organizationId) =>
  sql`SELECT add_event(${organization}::int, 'campaign.started', subject, '{}') FROM unnest(${subjects}::text[]) AS subject`
const settled = () => untilTrue("order", async () => (await sql`SELECT 1 FROM event_outbox LIMIT 1`).length === 0)

interface Page {
  readonly events: ReadonlyArray<Told>
  readonly next_after_id: number
}
// The cast holds because the answer was checked against its schema.
const pageOf = async (query: string) => (await ask("GET", `/events${query}`)).json as Page
/** Adds events, and returns them with their ids. */
const added = async (subjects: ReadonlyArray<string>, organization?: number) => {
  await add(subjects, organization)
  await settled()
  return sql<{
    readonly id: number
    readonly subject: string
  }>`SELECT id, subject FROM events WHERE subject = ANY (${subjects}) ORDER BY id`
}
const subjectsOf = (events: ReadonlyArray<{ readonly subject: string }>) => events.map(({ subject }) => subject)

t.test("given an event that the database shows to no tenant", async (t) => {
  const [before] = await added(["campaigns/1"])
  await sql`CREATE POLICY hidden ON events AS RESTRICTIVE FOR SELECT USING (subject <> 'campaigns/hidden')`
  t.teardown(() => sql`DROP POLICY hidden ON events`)
  await added(["campaigns/hidden", "campaigns/shown"])

  for (const way of bothWays) {
    t.test(`when somebody follows by ${way}, then it is subject to row-level security, like any other request`, async (t) => {
      const follower = ways[way](t, `?last_event_id=${before?.id}`)
      t.equal((await told(follower, 1))[0]?.subject, "campaigns/shown")
      const subject = `campaigns/later-${way}`
      await add([subject])
      await until("what happens later", () => follower.messages.find((one) => one.subject === subject))
      t.notOk(follower.messages.some((one) => one.subject === "campaigns/hidden"))
    })
  }
})

/** Makes events look as if they had happened eight days ago, and the expired ones had been deleted since. */
const grownOld = async (last = 0) => {
  await sql`UPDATE events SET created_at = created_at - interval '8 days' WHERE id <= ${last}::bigint`
  while ((await database.run(SqlClient.SqlClient.use(prune))) === prunedAtOnce);
}

/** All events that are listed after this one, page by page. */
const listed = async (after: number, types = "") => {
  const events: Array<Told> = []
  for (let at = after; ; ) {
    const page = await pageOf(`?after_id=${at}&limit=3${types}`)
    if (page.next_after_id === at) return { at, events }
    events.push(...page.events)
    at = page.next_after_id
  }
}

t.test("given events whose older half is no longer kept", async (t) => {
  const names = Array.from({ length: 10 }, (_, at) => `campaigns/old-${at}`)
  const old = await added(names.slice(0, 5))
  const kept = await added(names.slice(5))
  await grownOld(old.at(-1)?.id)
  const [first, last] = [old[1]?.id ?? 0, old[4]?.id ?? 0]

  const isTold = (t: Test, [notice, ...rest]: ReadonlyArray<Told>) => {
    t.match(notice, { type: "events.gap", id: String(last), subject: "events", data: { after_id: first, until_id: last } })
    t.strictSame(subjectsOf(rest), subjectsOf(kept))
  }

  t.test("when reading continues after one that is gone, then there is a notice first, and then the kept events", async (t) => {
    isTold(t, (await listed(first)).events)
    for (const way of bothWays) isTold(t, [...(await told(ways[way](t, `?last_event_id=${first}`), 1 + kept.length))])
  })

  t.test("when only some types are selected, then the notice still comes", async (t) => {
    t.match((await listed(first, "&types=campaign.failed")).events, [{ type: "events.gap" }])
    for (const way of bothWays) {
      const follower = ways[way](t, `?last_event_id=${first}&types=campaign.failed`)
      t.match(await told(follower, 1), [{ type: "events.gap", id: String(last) }])
    }
  })

  t.test("when reading continues after the last one that is gone, then nothing is missing and there is no notice", async (t) => {
    t.strictSame(subjectsOf((await listed(last)).events), subjectsOf(kept))
    for (const way of bothWays) {
      t.strictSame(subjectsOf(await told(ways[way](t, `?last_event_id=${last}`), kept.length)), subjectsOf(kept))
    }
  })

  t.test("when reading starts at the beginning, then there is no notice", async (t) => {
    t.strictSame(subjectsOf((await pageOf("?limit=500")).events), subjectsOf(kept))
  })

  t.test("when only other organizations' events are left, then the notice comes once, and says where to continue", async (t) => {
    await added(["campaigns/others"], otherId)
    const [mine, last] = [kept.at(-2)?.id ?? 0, kept.at(-1)?.id ?? 0]
    await grownOld(kept.at(-1)?.id)
    const { at, events } = await listed(mine)
    t.match(events, [{ type: "events.gap", data: { after_id: mine, until_id: last } }])
    t.equal(at, last)
    t.strictSame(await pageOf(`?after_id=${at}`), { events: [], next_after_id: at })
    const [since] = await added(["campaigns/since"])
    t.strictSame(subjectsOf((await pageOf(`?after_id=${at}`)).events), ["campaigns/since"])
    for (const way of bothWays) {
      const follower = ways[way](t, `?last_event_id=${mine}`)
      t.match(await told(follower, 2), [{ type: "events.gap", id: String(Number(since?.id) - 1) }, { subject: "campaigns/since" }])
    }
  })

  t.test("when all are old, then the newest is kept, so that ids still show the position", async (t) => {
    const [newest] = await added(["campaigns/newest"])
    await grownOld(newest?.id)
    t.strictSame(subjectsOf((await pageOf("")).events), ["campaigns/newest"])
    t.strictSame(await pageOf(`?after_id=${newest?.id}`), { events: [], next_after_id: newest?.id })
  })
})

t.test("given an id that no event ever had, when reading continues after it, then a notice says where to continue", async (t) => {
  const [newest] = await added(["campaigns/before"])
  const ahead = 4_000_000_000
  const { events, at } = await listed(ahead)
  t.match(events, [{ type: "events.gap", data: { after_id: ahead, until_id: newest?.id } }])
  t.equal(at, newest?.id)
  for (const way of bothWays) {
    const follower = ways[way](t, `?last_event_id=${ahead}`)
    const [notice] = await told(follower, 1)
    t.match(notice, { type: "events.gap", id: String((await listed(0)).at) })
    const subject = `campaigns/after-${way}`
    await add([subject])
    await until("what happens then", () => follower.messages.find((one) => one.subject === subject))
  }
})

t.test("given old events whose times are out of order, when they are deleted, then no kept event precedes a deleted one", async (t) => {
  const some = await added(["campaigns/a", "campaigns/b", "campaigns/c"])
  await sql`UPDATE events SET created_at = now() - interval '8 days' WHERE id < ${some[0]?.id}::bigint OR subject = 'campaigns/b'`
  await grownOld(0)
  t.strictSame(subjectsOf((await pageOf("?limit=500")).events), ["campaigns/a", "campaigns/b", "campaigns/c"])
})

for (const way of bothWays) {
  const over = (follower: ReturnType<(typeof ways)["socket"]> | ReturnType<(typeof ways)["stream"]>) =>
    "closed" in follower ? follower.closed : follower.ended()
  const isClosed = (t: Test, how: unknown) => (way === "socket" ? t.match(how, { code: 4401 }) : t.equal(how, true))
  const headersOf = (key: string) => ({ authorization: `Bearer ${key}` })
  const followFrom = async (t: Test, key: string) => {
    const [{ id } = { id: 0 }] = await added([`campaigns/${way}-${key.slice(-6)}`])
    const follower = ways[way](t, `?last_event_id=${id - 1}`, headersOf(key))
    await told(follower, 1)
    return follower
  }

  t.test(`given somebody who follows by ${way} with a key, when the key is archived, then that ends, and others continue`, async (t) => {
    const made = bodyOf(await ask("POST", "/user/api-keys", { name: "follower" }))
    const follower = await followFrom(t, String(made["api_key"]))
    const other = ways[way](t)
    await ask("DELETE", `/user/api-keys/${made.id}`)
    isClosed(t, await over(follower))
    const subject = `campaigns/still-${way}`
    await untilTrue("what others are told", async () => {
      await add([subject])
      return other.messages.some((one) => one.subject === subject)
    })
  })

  for (const [who, credential] of [
    ["a user", ({ token }) => token],
    ["a key of a user", ({ id }) => makeKey({ role: "viewer", user_id: id })]
  ] as ReadonlyArray<readonly [string, (user: { token: string; id: number }) => string | Promise<string>]>) {
    t.test(`given ${who}, who follows by ${way}, when the membership ends, then so does the connection`, async (t) => {
      const email = `${who.length}-${way}@example.com`
      const signed = bodyOf(await ask("POST", "/auth/signup", { email, password: "correct horse battery" }, { key: null }))
      const { id } = Object(signed["user"])
      await sql`INSERT INTO memberships (organization_id, user_id, role) VALUES (${organizationId}, ${id}, 'viewer')`
      await sql`UPDATE users SET selected_organization_id = ${organizationId} WHERE id = ${id}`
      const key = await credential({ token: String(signed["token"]), id })
      // The user's former organization may be cached for a second.
      const follower = await until("membership", async () => {
        const me = await ask("GET", "/organizations/context", undefined, { key: null, headers: headersOf(key) })
        return bodyOf(me)["organization_id"] === organizationId ? await followFrom(t, key) : undefined
      })
      await sql`DELETE FROM memberships WHERE organization_id = ${organizationId} AND user_id = ${id}`
      // The user may still be in another organization, but these are not its events.
      isClosed(t, await over(follower))
    })
  }
}
