/**
 * Words and digits that occur nowhere else, in whole calls: spoken and keyed by the callee, said by the agent, sent to a tool and returned by
 * it. They are stored where the run keeps them, and nowhere else that anybody can look.
 */
import { globSync, readFileSync, statSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import t, { type Test } from "tap"
import { decode, sampleRate } from "#core/audio/Mulaw.ts"
import { OpenAiEmulator } from "#test/emulators/openai/OpenAiEmulator.ts"
import { makeTalker } from "#test/emulators/shared/Talker.ts"
import { type Canaries, canariesOf, CanaryTalk, createCanaryAgent, letters, wholeFormsOf } from "#test/support/canaryTalk.ts"
import { dump } from "#test/support/databaseDump.ts"
import { numbersOf, type Run, until, World } from "#test/support/engine.ts"
import { pocketsphinxRoot, pocketsphinxUnavailable } from "#test/support/pocketsphinx.ts"
import { likestPlace, sidesOf } from "#test/support/stereo.ts"
import { makeMouth } from "#test/support/utterances.ts"

const skip = (await pocketsphinxUnavailable()) ?? false
const speak = makeMouth()
const modelKey = `sk-${letters(24)}`
/** The recognizer understands only words of its dictionary. */
const kept = canariesOf("quicksilver platypus")
const unkept = canariesOf("kaleidoscope mulberry")
const talk = new CanaryTalk(kept)
let whileKeying = () => {}

/** The moves of a callee who says the words and presses the keys whenever they are asked for. */
const moves = () =>
  talk.moves({
    words: () => ({ says: speak(talk.call.spoken, { voice: "rms" }) }),
    keys: () => {
      whileKeying()
      return { presses: talk.call.keyed }
    }
  })

/** Records everything that is stored of conversations while they last, and deleted at their end. */
const noteEntries = ({ sql }: World) =>
  sql.unsafe(`
    CREATE TABLE noted_entries (content text);
    CREATE FUNCTION note_entry() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
      BEGIN INSERT INTO noted_entries VALUES (NEW.content::text); RETURN NULL; END $$;
    CREATE TRIGGER note_entry AFTER INSERT ON conversation_entries FOR EACH ROW EXECUTE FUNCTION note_entry()`)

const open = async (t: Test, temporary: string) => {
  const model = await OpenAiEmulator.start({ apiKey: modelKey, answer: (body) => talk.answer(body) })
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
    // The cast holds because the route documents this shape.
    return answered.body as Readonly<Record<string, never>>
  }
  const agent = await createCanaryAgent(must, await talk.lookUp(t))
  const overrides = { llm: { provider: "openai", model: "emulated", api_key: modelKey, base_url: model.url } }
  const configure = (...phrases: ReadonlyArray<string>) =>
    must("PUT", `/workflow/${agent["id"]}`, {
      workflow_configurations: { model_overrides: overrides, embedded: { edges: { through: { phrases } } }, max_user_idle_timeout: 60 }
    })
  /** Holds a whole call, and returns its run. */
  const held = async (canaries: Canaries, number: string): Promise<Run> => {
    talk.begin(canaries)
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

/** The places that contain any form of the word: tables, and files below the folder, named by the folder that they are in. */
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
/** Quarter-second parts of what the callee said. A busy machine may have lost one of them. */
const clipsOf = (text: string): ReadonlyArray<Int16Array> => {
  const samples = decode(Buffer.concat(speak(text, { voice: "rms" }).frames))
  return [1, 2, 3].map((part) => samples.subarray(part * clipSamples, (part + 1) * clipSamples))
}
const isHeard = (side: Int16Array) => side.some((sample) => Math.abs(sample) > 2000)

/** Each side must be in its own channel, and the agent must speak before and after the callee. */
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

t.test("given calls with words and digits that occur nowhere else", { skip }, async (t) => {
  const temporary = await mkdtemp(join(tmpdir(), "trunkline-canaries-"))
  t.teardown(() => rm(temporary, { recursive: true }))
  const { held, must, world } = await open(t, temporary)
  const [first = "", second = ""] = numbersOf(2, ["11"])

  await t.test("when the organization keeps what is said, then it is in the run and its files", async (t) => {
    const run = await held(kept, first)
    t.match(run, { gathered_context: { call_disposition: "user_qualified", dtmf_digits: new RegExp(kept.keyed), wish: kept.gathered } })
    t.strictSame(await kindsIn(world, temporary, kept), {
      // The agent's definition contains the words that callees are expected to say.
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

  await t.test("when it keeps none of that, then nothing that was said is stored, not even during the call", async (t) => {
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
      // Extracted variables, and the keys, are results of the call.
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

  await t.test("then neither logs nor metrics contain any of it, and the model's key is nowhere", async (t) => {
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
