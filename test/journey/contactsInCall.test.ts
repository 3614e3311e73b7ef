/** What an operator sees of contacts while their phones ring, while their calls are up, and afterwards. */
import t from "tap"
import { numbersOf, untilTrue, World } from "#test/support/engine.ts"

t.test("given three contacts of whom two answer, when an operator looks", async (t) => {
  const world = await World.open(t, { emulator: { media: false, ringMillis: 200 }, environment: { RECORDINGS: "off" } })
  const { emulator, sql } = world
  const settings = { max_concurrency: 3, retry_config: { max_retries: 0 } }
  const { id } = await world.campaign(numbersOf(3, ["01", "01", "13"]), settings)
  const shown = async (query = ""): Promise<ReadonlyArray<string>> => {
    const { body } = await world.api.ask("GET", `/campaign/${id}/contacts${query}`)
    // The cast holds because the engine builds its answers from the same types.
    const { contacts } = body as { readonly contacts: ReadonlyArray<{ readonly row_number: number; readonly state: string }> }
    return contacts.map(({ row_number, state }) => `${row_number} ${state}`)
  }
  const until = (query: string, rows: ReadonlyArray<string>) =>
    untilTrue(`${rows.join(", ")} in the list`, async () => (await shown(query)).join() === rows.join())

  emulator.letRing(true)
  emulator.letTalk(true)
  await world.api.start(id)
  await world.seen("ringing", 3)
  await until("", ["2 dialing", "3 dialing", "4 dialing"])
  t.strictSame(await shown("?state=in_call"), [], "then no contact is in a call while the phones ring")

  emulator.letRing(false)
  await until("?state=in_call", ["2 in_call", "3 in_call"])
  t.match(await shown(), ["2 in_call", "3 in_call"], "then the list shows whose call is up")
  const others = (await shown("?state=dialing")).filter((row) => !row.startsWith("4 "))
  t.strictSame(others, [], "then they are not dialing any more")

  emulator.letTalk(false)
  await world.api.untilState(id, "completed")
  t.strictSame(await shown("?state=in_call"), [], "then nobody is in a call once all are over")
  t.strictSame(await shown(), ["2 completed", "3 completed", "4 failed"], "then each has its result")
  t.strictSame([...(await sql`SELECT after FROM noted_moves WHERE after = 'in_call'`)], [], "then no answer has changed a contact's row")
})
