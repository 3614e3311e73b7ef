/** Extensions of a private exchange: they are called where the telephony configuration lists them, and nowhere else. Judged by the phones. */
import t from "tap"
import { placedBy, contactStates, untilTrue, World } from "#test/support/engine.ts"

const world = await World.open(t, {
  emulator: { media: false, ringMillis: 300, talkMillis: 600 },
  environment: { RECORDINGS: "off" }
})
const { api, emulator, sql } = world

/** Replaces the list of extensions. */
const list = async (extensions: ReadonlyArray<string>) => {
  const config = {
    provider: "ari",
    ari_endpoint: emulator.url,
    app_name: emulator.user,
    app_password: emulator.password,
    allow_extensions: extensions
  }
  const { body, status } = await api.ask("PUT", "/organizations/telephony-configs/1", { config })
  t.equal(status, 200, JSON.stringify(body))
}
const create = async (numbers: ReadonlyArray<string>) => {
  const source_id = await api.upload(["phone_number", ...numbers, ""].join("\n"))
  return await api.ask("POST", "/campaign/create", { name: "Desks", workflow_id: world.agentId, source_type: "csv", source_id })
}
/** The refusal of a request. */
const toldOf = ({ body, status }: { readonly body: unknown; readonly status: number }) => ({ status, body })
const dialed = () => emulator.requests.map(({ endpoint }) => endpoint)

t.test("given a configuration that lists some", async (t) => {
  await list(["1000-1999", "7654321"])

  t.test("when a list names them beside numbers, then each phone rings once", async (t) => {
    // +7654321 and the extension with the same digits are two different phones.
    const numbers = ["+15550100001", "1001", "'1101", "7654321", "+7654321"]
    const created = await create(numbers)
    t.match(created, { status: 200, body: { total_rows: 5 } })
    const id = idOf(created.body)
    await api.start(id)
    await api.untilState(id, "completed")
    const called = ["+15550100001", "+7654321", "1001", "1101", "7654321"]
    t.strictSame(
      dialed().toSorted(),
      called.map((number) => `PJSIP/${number}@trunk`)
    )
    t.strictSame((await placedBy(sql, id)).map(({ outcome, phoneNumber }) => [phoneNumber, outcome]).toSorted(), [
      ...called.map((number) => [number, "answered"])
    ])
    const [run] = (await api.runs(id)).filter(({ initial_context }) => initial_context?.["phone_number"] === "1001")
    t.match(run, { initial_context: { called_number: "1001" } })
  })

  t.test("when one gets a single call, then no other call rings it at the same time", async (t) => {
    emulator.letRing(true)
    t.match(await api.call(world.agentUuid, "1011"), { status: 200 })
    t.match(await api.call(world.agentUuid, "1011"), { status: 409, body: { detail: /^The phone number is in another call/ } })
    t.match(await api.call(world.agentUuid, "2001"), {
      status: 400,
      body: { detail: /, or be an extension that the telephony configuration lists$/ }
    })
    emulator.letRing(false)
    await untilTrue("end of the ringing", () => emulator.log.count("answered") >= 6)
    t.equal(dialed().filter((endpoint) => endpoint.includes("/1011@")).length, 1)
  })

  t.test("when the configuration no longer lists them, then a campaign does not start, and loses no contact", async (t) => {
    const before = dialed().length
    const id = idOf((await create(["+15550100101", "1201", "1301"])).body)
    await list(["1201"])
    t.match(toldOf(await api.ask("POST", `/campaign/${id}/start`)), {
      status: 400,
      body: { detail: /does not list the extensions of rows: 4\./ }
    })
    await list(["1000-1999"])
    await api.start(id)
    await api.untilState(id, "completed")
    t.equal(dialed().length - before, 3)
  })

  t.test("when they are removed while a campaign runs, then it is paused and says why, and nobody is called or lost", async (t) => {
    const id = idOf((await create(Array.from({ length: 90 }, (_, at) => String(1501 + 5 * at)))).body)
    await sql`UPDATE campaigns SET rate_limit = 1 WHERE id = ${id}`
    const before = dialed().length
    await api.start(id)
    await untilTrue("first call", () => dialed().length > before)
    await list([])
    const { logs } = await api.untilState(id, "paused")
    t.match(logs.at(-1), {
      event: "telephony_configuration_unavailable",
      details: { detail: /not an extension that .* lists$/ }
    })
    const states = await contactStates(sql, id)
    t.notOk(states["failed"], JSON.stringify([states, await placedBy(sql, id)]))
    const placed = dialed().length
    await list(["1000-1999"])
    await api.resume(id)
    await untilTrue("next call", () => dialed().length > placed)
    await api.pause(id)
  })
})

const idOf = (body: unknown): number => (body instanceof Object && "id" in body ? Number(body.id) : Number.NaN)
