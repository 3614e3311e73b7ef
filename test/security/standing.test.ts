/**
 * What was granted outlived what it was granted with: a log-in survived the change of the password that it was made with, links to files the key of a
 * user, and keys the key that made them. And whoever lost a key, a role or a session had a second left, on other nodes, to get another.
 */
import t from "tap"
import { bodyOf, csv, openApi } from "#test/gateway/apiTest.ts"
import { checkedOften } from "#test/gateway/followers.ts"
import { bearer, type Sent } from "#test/gateway/gatewayTest.ts"

const api = await openApi(t, checkedOften)
const { ask, sql } = api
const nobody: Sent = { key: null }
const password = "correct horse"

let people = 0
/** The owner of a new organization, logged in. */
const person = async () => {
  const email = `person${++people}@example.org`
  // As documented.
  const { token, user } = (await ask("POST", "/auth/signup", { email, password }, nobody)).json as {
    readonly token: string
    readonly user: { readonly id: number; readonly organization_id: number }
  }
  return { email, sent: bearer(token), user }
}
/** A key that the caller makes. */
const made = async (by: Sent, more: object = {}) => {
  const { api_key, id } = bodyOf(await ask("POST", "/user/api-keys", { name: "made", ...more }, by))
  return { id, sent: { key: String(api_key) } satisfies Sent }
}
const archive = (id: number, by: Sent) => ask("DELETE", `/user/api-keys/${id}`, undefined, by)
const statusFor = async (sent: Sent) => (await ask("GET", "/folder/", undefined, sent)).status

/** What a caller can be given that lasts: each as what its use answers. */
const grants = async (by: Sent, email: string) => {
  const upload = bodyOf(await ask("POST", "/s3/presigned-upload-url", { file_name: "l.csv", file_size: csv.length }, by))
  const other = bodyOf(await ask("POST", "/s3/presigned-upload-url", { file_name: "o.csv", file_size: csv.length }, by))
  const put = (url: unknown) => fetch(String(url), { method: "PUT", body: csv, headers: { "content-type": "text/csv" } })
  await put(upload["upload_url"])
  const link = bodyOf(await ask("GET", `/s3/signed-url?${new URLSearchParams({ key: String(upload["file_key"]) })}`, undefined, by))
  const invited = bodyOf(await ask("POST", "/organizations/invitations", { email, role: "viewer" }, by))
  const redeem = { email, password, invitation_token: invited["token"] }
  return {
    link: async () => (await fetch(String(link["url"]))).status,
    upload: async () => (await put(other["upload_url"])).status,
    invitation: async () => (await ask("POST", "/auth/signup", redeem, nobody)).status
  }
}
const used = async ({ invitation, link, upload }: Awaited<ReturnType<typeof grants>>) => [await link(), await upload(), await invitation()]

t.test("given somebody who knows the old password, when they keep logging in while it is changed, then no log-in remains", async (t) => {
  const { email, sent } = await person()
  let current = password
  for (let round = 0; round < 5; round++) {
    const next = `${password} ${round}`
    let isChanging = true
    const change = ask("PUT", "/user/password", { current_password: current, new_password: next }, sent).finally(() => {
      isChanging = false
    })
    const logIns = async () => {
      const all = []
      while (isChanging) all.push(await ask("POST", "/auth/login", { email, password: current }, nobody))
      return all
    }
    const begun = (await Promise.all([logIns(), logIns()])).flat()
    t.equal((await change).status, 200)
    const tokens = begun.filter(({ status }) => status === 200).map((answer) => bearer(String(bodyOf(answer)["token"])))
    const others = [...new Set(await Promise.all(tokens.map(statusFor)))].filter((status) => status !== 401)
    t.strictSame(others, [], `in round ${round}`)
    current = next
  }
})

for (const [what, lose] of Object.entries({
  "is archived": async (id: number, by: Sent) => void (await archive(id, by)),
  expires: async (id: number) => void (await sql`UPDATE api_keys SET expires_at = now() WHERE id = ${id}`),
  "loses its user": async (id: number) =>
    void (await sql`DELETE FROM memberships WHERE user_id = (SELECT user_id FROM api_keys WHERE id = ${id})`)
})) {
  t.test(`given a key with keys that descend from it, when it ${what}, then none of them is good, nor what they granted`, async (t) => {
    const owner = await person()
    const parent = await made(owner.sent)
    const child = await made(parent.sent)
    const grandchild = await made(child.sent)
    const beside = await made(owner.sent)
    const given = [await grants(parent.sent, `p.${owner.email}`), await grants(grandchild.sent, `g.${owner.email}`)]
    t.match((await ask("GET", "/user/api-keys", undefined, owner.sent)).json, [
      { id: parent.id, created_with: null, is_active: true },
      { id: child.id, created_with: parent.id, is_active: true },
      { id: grandchild.id, created_with: child.id, is_active: true },
      { id: beside.id, created_with: null, is_active: true }
    ])
    const following = await fetch(`http://127.0.0.1:${api.port}/api/v1/events`, { headers: { "x-api-key": grandchild.sent.key } })
    t.equal(following.status, 200)

    await lose(parent.id, owner.sent)
    await following.text()
    const lost = [parent, child, grandchild].map(({ sent }) => sent)
    // A node that another one told nothing remembers a key for a second.
    while ((await Promise.all(lost.map(statusFor))).includes(200)) await new Promise((resolve) => setTimeout(resolve, 50))
    t.strictSame(await Promise.all(lost.map(statusFor)), [401, 401, 401])
    for (const one of given) t.strictSame(await used(one), [403, 403, 403])
    if (what === "loses its user") return
    t.match((await ask("GET", "/user/api-keys?include_archived=true", undefined, owner.sent)).json, [
      { is_active: false },
      { is_active: false },
      { is_active: false },
      { is_active: true }
    ])
    t.equal(await statusFor(beside.sent), 200, "one that was made in a session is independent")
  })
}

t.test("given links and upload addresses made in a session, when it ends, then they are void; invitations stay", async (t) => {
  const { email, sent } = await person()
  const given = await grants(sent, `i.${email}`)
  t.equal(await given.link(), 200)
  await ask("POST", "/auth/logout", undefined, sent)
  t.strictSame(await used(given), [403, 403, 200])
})

/** Each was used a moment ago, so this node still takes it for good. */
t.test("given a credential that another node has just ended", async (t) => {
  const kept = async (organization: number) =>
    (
      await sql`SELECT 1 FROM api_keys WHERE organization_id = ${organization} AND archived_at IS NULL AND name = 'again'
      UNION ALL SELECT 1 FROM invitations WHERE organization_id = ${organization}
      UNION ALL SELECT 1 FROM webhook_endpoints WHERE organization_id = ${organization}`
    ).length
  for (const [what, end] of Object.entries({
    session: (user: number) => sql`DELETE FROM sessions WHERE user_id = ${user}`,
    membership: (user: number) => sql`DELETE FROM memberships WHERE user_id = ${user}`,
    role: (user: number) => sql`UPDATE memberships SET role = 'viewer' WHERE user_id = ${user}`,
    key: (user: number) => sql`UPDATE api_keys SET archived_at = now() WHERE user_id = ${user}`
  })) {
    t.test(`when its ${what} is to get another key, invite, appoint, or have events sent, then it is refused`, async (t) => {
      const { email, sent, user } = await person()
      const mine = await made(sent, { name: "again" })
      const by = what === "key" ? mine.sent : sent
      const friend = await person()
      const { token } = bodyOf(await ask("POST", "/organizations/invitations", { email: friend.email, role: "viewer" }, sent))
      await ask("POST", "/user/invitations/redeem", { token }, friend.sent)
      await sql`DELETE FROM invitations WHERE organization_id = ${user.organization_id}`
      t.equal(await statusFor(by), 200)
      await end(user.id)
      if (what !== "key") await sql`UPDATE api_keys SET archived_at = now() WHERE user_id = ${user.id}`
      const statuses = [
        await ask("POST", "/user/api-keys", { name: "again", role: "viewer" }, by),
        await ask("PUT", `/user/api-keys/${mine.id}/reactivate`, undefined, by),
        await ask("POST", "/organizations/invitations", { email: `x.${email}`, role: "viewer" }, by),
        await ask("PATCH", `/organizations/members/${friend.user.id}`, { role: "owner" }, by),
        await ask("POST", "/organizations/webhook-endpoints", { url: `https://example.com/${people}` }, by)
      ].map(({ status }) => status)
      const others = statuses.filter((status) => status !== 403 && status !== 401)
      t.strictSame(others, [])
      t.equal(await kept(user.organization_id), 0)
      t.match(await sql`SELECT role FROM memberships WHERE user_id = ${friend.user.id} AND organization_id = ${user.organization_id}`, [
        { role: "viewer" }
      ])
    })
  }

  t.test("when it is an operator's, and is to get another or to revoke one, then it is refused", async (t) => {
    const revoked = { key: await api.makeKey({ name: "revoked", is_operator: true }) }
    await api.makeKey({ name: "remaining", is_operator: true })
    t.equal((await ask("GET", "/operator/keys", undefined, revoked)).status, 200)
    const [remaining] = await sql<{ id: number }>`SELECT id FROM api_keys WHERE name = 'remaining'`
    await sql`UPDATE api_keys SET archived_at = now() WHERE name = 'revoked'`
    const statuses = [
      await ask("POST", "/operator/keys", { name: "again" }, revoked),
      await ask("DELETE", `/operator/keys/${remaining?.id}`, undefined, revoked)
    ].map(({ status }) => status)
    const others = statuses.filter((status) => status !== 403 && status !== 401)
    t.strictSame(others, [])
    t.strictSame(await sql`SELECT 1 FROM api_keys WHERE is_operator AND name = 'again'`, [])
  })
})
