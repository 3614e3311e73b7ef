/** What callees of a whole engine hear first: a recording of the agent's, one of the contact's own, or the contact's own text. */
import { join } from "node:path"
import { readdir } from "node:fs/promises"
import t from "tap"
import { encodeFrames } from "#core/audio/Mulaw.ts"
import { numbersOf, World } from "#test/support/engine.ts"
import { phoneWav } from "#test/support/wav.ts"

/** Half a second of sound that resembles nothing else. */
const sound = (seed: number) => Int16Array.from({ length: 160 * 25 }, (_, at) => 9000 * Math.sin(at * at * seed))
const sounds = { agent: sound(0.001), contact: sound(0.0013) }
const shown = "+15550100999"

t.test("given an agent that opens with a recording, and contacts with greetings of their own, when they are called", async (t) => {
  const world = await World.open(t, {
    configurations: { max_call_duration: 600 },
    // A callee who is spoken to stays until they have heard everything, however slow the machine.
    emulator: { ringMillis: 300, talkMillis: 10_000, talkOnceHeard: true }
  })
  const { api, emulator } = world
  // The cast holds because this test knows the shape of the answers to its requests.
  const ask = async (method: string, path: string, body?: object) => (await api.ask(method, path, body)).body as Record<string, never>
  const record = async (name: string, samples: Int16Array) => {
    const { recording_id, storage_key, upload_url } = await ask("POST", "/workflow-recordings/upload-url", { filename: `${name}.wav` })
    await fetch(String(upload_url), { method: "PUT", headers: { "content-type": "audio/wav" }, body: new Uint8Array(phoneWav(samples)) })
    return await ask("POST", "/workflow-recordings/", { recording_id, storage_key, transcript: `This is the ${name} speaking.` })
  }
  const agents = await record("agent", sounds.agent)
  const contacts = await record("contact", sounds.contact)
  const start = { name: "Start", prompt: "Greet.", greeting_type: "audio", greeting_recording_id: String(agents["id"]) }
  await ask("PUT", `/workflow/${world.agentId}`, {
    workflow_definition: { nodes: [{ id: "1", type: "startCall", position: { x: 0, y: 0 }, data: start }], edges: [] }
  })
  const configurations = await ask("GET", "/organizations/telephony-configs")
  const [configuration] = configurations["configurations"] as unknown as ReadonlyArray<{ readonly id: number }>
  await ask("POST", `/organizations/telephony-configs/${configuration?.id}/phone-numbers`, { address: shown, is_default_caller_id: true })

  const [plain = "", spoken = "", played = ""] = numbersOf(3, ["01"])
  const list = [
    "phone_number,first_name,greeting_override_type,greeting_override_text,greeting_override_recording_id",
    `${plain},Ada,,,`,
    `${spoken},Bob,text,"Hi {{first_name}}, from {{caller_number}}.",`,
    `${played},Eve,audio,,${String(contacts["recording_id"])}`
  ].join("\n")
  const campaign = { name: "Greetings", workflow_id: world.agentId, source_type: "csv", source_id: await api.upload(list) }
  const { id } = await ask("POST", "/campaign/create", campaign)
  await api.start(Number(id))
  await api.untilState(Number(id), "completed")

  const runs = new Map((await api.runs(Number(id))).map((run) => [String(run.initial_context?.["phone_number"]), run]))
  const heardBy = (number: string) => emulator.log.heard(emulator.log.of(number)[0]?.channelId ?? "")
  const saidTo = async (number: string) => {
    const key = runs.get(number)?.transcript_url ?? ""
    const { url } = await ask("GET", `/s3/signed-url?key=${encodeURIComponent(key)}`)
    return await (await fetch(String(url))).text()
  }

  await t.test("then each callee hears their own greeting", async (t) => {
    t.ok(heardBy(plain).includes(Buffer.from(encodeFrames(sounds.agent))), "the agent's recording")
    t.ok(heardBy(played).includes(Buffer.from(encodeFrames(sounds.contact))), "his own recording")
    t.notOk(heardBy(spoken).includes(Buffer.from(encodeFrames(sounds.agent))))
  })
  await t.test("then the transcripts say so", async (t) => {
    t.match(await saidTo(plain), /assistant: This is the agent speaking\.\n/)
    t.match(await saidTo(played), /assistant: This is the contact speaking\.\n/)
    t.match(await saidTo(spoken), new RegExp(`assistant: Hi Bob, from \\${shown}\\.\n`))
  })
  await t.test("then the runs have the number that was shown", async (t) => {
    const callers = [...runs.values()].map((run) => run.initial_context?.["caller_number"])
    t.strictSame(callers, [shown, shown, shown])
  })
  await t.test("then the log contains nobody's words or number", async (t) => {
    t.notOk(/speaking|\+1555|Hi Bob/.test(world.output()))
    t.ok((await readdir(join(world.dataDir, "files", "recordings"))).length >= 3, "the calls were recorded beside the uploads")
  })
})
