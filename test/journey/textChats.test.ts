/** Text chats with a whole engine that is killed while it answers, stays away for long, and reveals nothing of what was written. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import t from "tap"
import type { Static } from "typebox"
import type { TextChatWire } from "#gateway/wire/TextChat.ts"
import { OpenAiEmulator } from "#test/emulators/openai/OpenAiEmulator.ts"
import { type Answer, untilTrue, World } from "#test/support/engine.ts"

type Chat = Static<typeof TextChatWire>
const chatIn = ({ body, status }: Answer): Chat => {
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body as Chat // Built from the same type.
}
const lastSaid = (chat: Chat) => chat.session_data.turns.at(-1)?.assistant_message?.text
const answers = (text: string) => ({ text: [text] })
const hanging = { pieces: [], ending: "hang" as const }

const model = await OpenAiEmulator.start()
t.teardown(() => model.stop())
const canary = "Xylophonquartz"
const world = await World.open(t, { emulator: { media: false }, greeting: "Hello {{first_name}}." })
await world.api.ask("PUT", "/user/configurations/user", {
  llm: { provider: "openai", model: "emulated", api_key: "none", base_url: model.url }
})
const sessions = `/workflow/${world.agentId}/text-chat/sessions`
const begin = async () => {
  const chat = chatIn(await world.api.ask("POST", sessions, { initial_context: { first_name: canary } }))
  return { chat, path: `${sessions}/${chat.workflow_run_id}` }
}
const read = async (path: string) => chatIn(await world.api.ask("GET", path))

t.test("given an engine that is killed while the model thinks, then the chat is unchanged, and continues", async (t) => {
  const { chat, path } = await begin()
  t.equal(lastSaid(chat), `Hello ${canary}.`)
  const before = model.requests.length
  model.script(hanging)
  const lost = world.api.ask("POST", `${path}/messages`, { text: `I am ${canary}.` })
  lost.catch(() => {})
  await untilTrue("question to the model", () => model.requests.length > before)
  await world.end("SIGKILL")
  await t.rejects(lost)
  await world.launch()
  t.strictSame(await read(path), chat)
  model.script(answers(`So you are ${canary}?`))
  const next = chatIn(await world.api.ask("POST", `${path}/messages`, { text: `I am ${canary}.`, expected_revision: chat.revision }))
  t.equal(lastSaid(next), `So you are ${canary}?`)
  t.equal(next.session_data.turns.length, 2)
})

t.test("given an engine that is killed while it writes the turn, then nothing of it is there", async (t) => {
  const { chat, path } = await begin()
  // The run is the last row to be written.
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
  let isHeld = false
  const lock = world.sql.begin(async (sql) => {
    await sql`SELECT 1 FROM runs WHERE id = ${chat.workflow_run_id} FOR UPDATE`
    isHeld = true
    await held
  })
  await untilTrue("lock of the run", () => isHeld)
  model.script(answers("Well."))
  const lost = world.api.ask("POST", `${path}/messages`, { text: "hm" })
  lost.catch(() => {})
  await untilTrue("write that waits", async () => {
    const rows = await world.sql`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%UPDATE runs%'`
    return rows.length > 0
  })
  await world.end("SIGKILL")
  await t.rejects(lost)
  letGo()
  await lock
  await world.launch()
  t.strictSame(await read(path), chat)
  const [row] = await world.sql`SELECT count(*)::int AS turns FROM text_chat_turns WHERE run_id = ${chat.workflow_run_id}`
  t.equal(row?.["turns"], 1)
})

t.test("given a chat that nobody writes to any more, when its time is up, then the engine ends it", async (t) => {
  const { chat, path } = await begin()
  await world.sql`UPDATE text_chats SET expires_at = now() WHERE run_id = ${chat.workflow_run_id}`
  await untilTrue("end of the chat", async () => (await read(path)).is_completed)
  t.equal((await read(path)).gathered_context?.["call_disposition"], "user_idle_max_duration_exceeded")
})

t.test("given all of that, then nobody was called, and the text is stored nowhere but in the chats", async (t) => {
  t.equal(world.emulator.log.count("originate"), 0)
  t.notMatch(world.output(), canary, "not in the log")
  t.notMatch(await (await fetch(`${world.engine.url}/metrics`)).text(), canary, "not in the metrics")
  const files = readdirSync(world.dataDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  for (const { name, parentPath } of files) t.notMatch(readFileSync(join(parentPath, name), "latin1"), canary, name)
})
