/**
 * Words and digits that are nowhere else, in whole calls: spoken and keyed by the callee, said by the agent, asked of a tool and answered by it. They
 * are in what the run keeps, and nowhere else that anybody may look.
 */
import { randomInt } from "node:crypto"
import { globSync, readFileSync, statSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import t, { type Test } from "tap"
import { decode, sampleRate } from "#core/audio/Mulaw.ts"
import { OpenAiEmulator } from "#test/emulators/openai/OpenAiEmulator.ts"
import type { ChatBody } from "#test/emulators/openai/refusals.ts"
import { makeTalker, type Move } from "#test/emulators/shared/Talker.ts"
import { dump, formsOf } from "#test/support/databaseDump.ts"
import { numbersOf, type Run, until, World } from "#test/support/engine.ts"
import { pocketsphinxRoot, pocketsphinxUnavailable } from "#test/support/pocketsphinx.ts"
import { likestPlace, sidesOf } from "#test/support/stereo.ts"
import { makeMouth } from "#test/support/utterances.ts"

const skip = (await pocketsphinxUnavailable()) ?? false
const speak = makeMouth()
const letters = (length: number) => Array.from({ length }, () => String.fromCharCode(97 + randomInt(26))).join("")
const modelKey = `sk-${letters(24)}`

/** Those of one call. The recognizer can only understand words of its dictionary. */
const canariesOf = (spoken: string) => ({
  spoken,
  keyed: String(randomInt(10_000_000, 100_000_000)),
  said: letters(16),
  asked: letters(16),
  answered: letters(16),
  gathered: letters(16),
  given: letters(16)
})
type Canaries = ReturnType<typeof canariesOf>
const kept = canariesOf("quicksilver platypus")
const unkept = canariesOf("kaleidoscope mulberry")
/** What the callee does once the agent has spoken. */
type Asks = "words" | "keys" | "nothing"
/** The call that is going on. */
let call = kept
let asks: Asks = "words"
let whileKeying = () => {}

/** A language model that asks for words, looks them up, tells what it has found, asks for keys, and says goodbye. */
const answer = ({ messages = [], tools = [] }: ChatBody) => {
  const names = tools.map((tool) => String(tool.function?.name))
  const use = (name: string, given: object) => ({ calls: [{ name, arguments: [JSON.stringify(given)] }] })
  const say = (next: Asks, ...text: ReadonlyArray<string>) => {
    asks = next
    return { text }
  }
  if (names.includes("save_variables")) return use("save_variables", { wish: call.gathered })
  const has = (role: string, word: string) => messages.some((one) => one.role === role && String(one.content).includes(word))
  if (has("user", call.keyed)) return names.includes("through") ? use("through", {}) : say("nothing", "Thank you. ", "Goodbye.")
  if (has("tool", call.answered)) return say("keys", `It is ${call.said}. `, "Which number have you?")
  if (has("user", call.spoken) && names.includes("look_up")) {
    asks = "nothing"
    return use("look_up", { question: call.asked })
  }
  return say("words", "Which words have you?")
}

/** The moves of a callee who says the words and keys the digits, as often as they are asked for. */
const moves = (): ReadonlyArray<Move> =>
  Array.from({ length: 20 }, () => ({
    get cue() {
      return asks === "nothing" ? { after: Number.POSITIVE_INFINITY } : { afterAgent: 1000 }
    },
    get says() {
      return asks === "words" ? speak(call.spoken, { voice: "rms" }) : undefined
    },
    get presses() {
      if (asks !== "keys") return ""
      whileKeying()
      return call.keyed
    }
  }))

/** The tool's other end. */
const lookUp = async (t: Test): Promise<string> => {
  const server = createServer((_, response) =>
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ found: call.answered }))
  )
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  t.teardown(() => server.close())
  // Listening on TCP, so neither a path nor null.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

const position = { x: 0, y: 0 }
const extraction = { extraction_enabled: true, extraction_variables: [{ name: "wish", type: "string", prompt: "The wish." }] }
const definitionWith = (tool: string) => ({
  nodes: [
    {
      id: "1",
      type: "startCall",
      position,
      data: { name: "Ask", prompt: "Ask.", greeting: "Good morning. Which words have you?", tool_uuids: [tool], ...extraction }
    },
    { id: "2", type: "endCall", position, data: { name: "End", prompt: "Say goodbye." } }
  ],
  edges: [{ id: "through", source: "1", target: "2", data: { label: "Through", condition: "All is known." } }]
})

/** Whatever was written of conversations while they lasted, and is deleted at their end. */
const noteEntries = ({ sql }: World) =>
  sql.unsafe(`
    CREATE TABLE noted_entries (content text);
    CREATE FUNCTION note_entry() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
      BEGIN INSERT INTO noted_entries VALUES (NEW.content::text); RETURN NULL; END $$;
    CREATE TRIGGER note_entry AFTER INSERT ON conversation_entries FOR EACH ROW EXECUTE FUNCTION note_entry()`)

const open = async (t: Test, temporary: string) => {
  const model = await OpenAiEmulator.start({ apiKey: modelKey, answer })
  t.teardown(() => model.stop())
  const world = await World.open(t, {
    emulator: { ringMillis: 200, talkMillis: 600_000 },
    environment: {
      EGRESS_ALLOW: "127.0.0.0/8",
      LOG_LEVEL: "debug",
      POCKETSPHINX_DIR: pocketsphinxRoot,
      TMPDIR: temporary
    }
  })
  const { api, emulator } = world
  await noteEntries(world)
  emulator.letTalk(true)
  emulator.log.talkerFor = (channelId) => {
    const number = emulator.log.of(channelId)[0]?.number ?? ""
    const press = (digits: string) => {
      for (const digit of digits) emulator.press(number, digit)
    }
    return makeTalker(moves(), { press, hangUp: () => emulator.hangUp(number) })
  }
  const must = async (method: string, path: string, body: object) => {
    const answered = await api.ask(method, path, body)
    if (answered.status !== 200) throw new Error(`${method} ${path}: ${answered.status} ${JSON.stringify(answered.body)}`)
    // Of the shape that its route documents.
    return answered.body as Readonly<Record<string, never>>
  }
  const config = {
    method: "POST",
    url: await lookUp(t),
    parameters: [{ name: "question", type: "string", description: "What.", required: true }]
  }
  const tool = await must("POST", "/tools/", {
    name: "Look up",
    category: "http_api",
    definition: { schema_version: 1, type: "http_api", config }
  })
  const agent = await must("POST", "/workflow/create/definition", {
    name: "Canaries",
    workflow_definition: definitionWith(String(tool["tool_uuid"]))
  })
  const overrides = { llm: { provider: "openai", model: "emulated", api_key: modelKey, base_url: model.url } }
  const configure = (...phrases: ReadonlyArray<string>) =>
    must("PUT", `/workflow/${agent["id"]}`, {
      workflow_configurations: { model_overrides: overrides, embedded: { edges: { through: { phrases } } }, max_user_idle_timeout: 60 }
    })
  /** Holds the whole call, and returns its run. */
  const held = async (canaries: Canaries, number: string): Promise<Run> => {
    call = canaries
    asks = "words"
    await configure(canaries.spoken)
    const asked = { phone_number: number, initial_context: { given: canaries.given } }
    const { workflow_run_id: id } = await must("POST", `/public/agent/workflow/${agent["workflow_uuid"]}`, asked)
    return await until("end of the run", async () => {
      const run = (await api.ask("GET", `/workflow/${agent["id"]}/runs/${id}`)).body as Run
      return run.is_completed ? run : undefined
    })
  }
  return { held, must, world }
}

/** Half of a word, or of a number, may stand anywhere. */
const wholeFormsOf = (word: string) => formsOf(word).filter(({ length }) => length >= word.length)

/** Where any form of the word stands: in tables, or in files below the folder, by the folder that they are in. */
const placesOf = async ({ dataDir, sql }: World, temporary: string, word: string): Promise<ReadonlyArray<string>> => {
  const forms = wholeFormsOf(word)
  const holds = (text: string) => forms.some((form) => text.includes(form))
  const tables = [...(await dump(sql))].flatMap(([table, rows]) => (holds(rows) ? [table] : []))
  const files = [dataDir, temporary].flatMap((folder) =>
    globSync("**", { cwd: folder })
      .filter((name) => statSync(join(folder, name)).isFile())
      .filter((name) => holds(`${name} ${readFileSync(join(folder, name), "latin1")}`))
      .map(dirname)
  )
  return [...tables, ...files].toSorted()
}
const kindsIn = async (world: World, temporary: string, canaries: Canaries) => {
  const kinds: Record<string, ReadonlyArray<string>> = {}
  for (const [kind, word] of Object.entries(canaries)) kinds[kind] = await placesOf(world, temporary, word)
  return kinds
}
const filesOf = ({ dataDir }: World) => globSync("{recordings,transcripts}/*", { cwd: join(dataDir, "files") })

const clipSamples = sampleRate / 4
/** Parts of what the callee said, a quarter of a second each; a busy machine may have lost one of them. */
const clipsOf = (text: string): ReadonlyArray<Int16Array> => {
  const samples = decode(Buffer.concat(speak(text, { voice: "rms" }).frames))
  return [1, 2, 3].map((part) => samples.subarray(part * clipSamples, (part + 1) * clipSamples))
}
const isHeard = (side: Int16Array) => side.some((sample) => Math.abs(sample) > 2000)

/** Each side is in its own channel, and the agent speaks before and after what the callee said. */
const judgeRecording = (t: Test, wav: Buffer) => {
  const { agent, callee } = sidesOf(wav)
  const clips = clipsOf(kept.spoken)
  const places = clips.map((clip) => likestPlace(callee, clip))
  const place = places.reduce((best, one) => (one.likeness > best.likeness ? one : best), { at: 0, likeness: 0 })
  t.ok(place.likeness > 0.9, "then the recording has the callee's words on their side", { place })
  const [clip = callee] = clips
  t.ok(likestPlace(agent, clip).likeness < 0.9, "and not on the agent's")
  t.ok(isHeard(agent.subarray(0, place.at)) && isHeard(agent.subarray(place.at + clipSamples)), "then the agent spoke before and after")
}

t.test("given calls with words and digits that are nowhere else", { skip }, async (t) => {
  const temporary = await mkdtemp(join(tmpdir(), "trunkline-canaries-"))
  t.teardown(() => rm(temporary, { recursive: true }))
  const { held, must, world } = await open(t, temporary)
  const [first = "", second = ""] = numbersOf(2, ["11"])

  await t.test("when the organization keeps what is said, then it is in the run and its files", async (t) => {
    const run = await held(kept, first)
    t.match(run, { gathered_context: { call_disposition: "user_qualified", dtmf_digits: new RegExp(kept.keyed), wish: kept.gathered } })
    t.strictSame(await kindsIn(world, temporary, kept), {
      // That these words may be said is known to the agent.
      spoken: ["agent_definitions", "files/transcripts", "noted_entries", "runs"],
      keyed: ["noted_entries", "runs"],
      said: ["files/transcripts", "noted_entries", "runs"],
      asked: ["noted_entries", "runs"],
      answered: ["noted_entries", "runs"],
      gathered: ["noted_entries", "runs"],
      given: ["runs"]
    })
    t.equal(filesOf(world).length, 2)
    const [name = ""] = globSync("recordings/*", { cwd: join(world.dataDir, "files") })
    judgeRecording(t, readFileSync(join(world.dataDir, "files", name)))
  })

  await t.test("when it keeps none of that, then nothing that was said is written, not even while the call lasts", async (t) => {
    const settings = { concurrency_limit: 10, concurrency_reserve: 0, recordings_enabled: false, transcripts_enabled: false }
    await must("PUT", "/organizations/settings", settings)
    const before = filesOf(world)
    const during: Array<ReadonlyArray<string>> = []
    whileKeying = () => during.push(filesOf(world))
    const run = await held(unkept, second)
    t.match(run, {
      recording_url: null,
      transcript_url: null,
      gathered_context: { dtmf_digits: new RegExp(unkept.keyed), wish: unkept.gathered }
    })
    t.strictSame(await kindsIn(world, temporary, unkept), {
      spoken: ["agent_definitions"],
      // What the agent was to find out, and the keys, are results.
      keyed: ["noted_entries", "runs"],
      said: [],
      asked: [],
      answered: [],
      gathered: ["noted_entries", "runs"],
      given: ["runs"]
    })
    t.ok(during.length > 0)
    for (const files of [...during, filesOf(world)]) t.strictSame(files, before)
  })

  await t.test("then logs and metrics have none of it, and nobody has the key of the model", async (t) => {
    const metrics = await (await fetch(`${world.engine.url}/metrics`)).text()
    const words = [...Object.values(kept), ...Object.values(unkept), modelKey, first, second].flatMap(wholeFormsOf)
    const told = `${world.output()} ${metrics}`
    t.strictSame(
      words.filter((word) => told.includes(word)),
      []
    )
    t.strictSame(await placesOf(world, temporary, modelKey), [])
  })
})
