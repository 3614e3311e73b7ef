/**
 * Calls of an engine with its own Postgres, with words and sounds that occur nowhere else. If an organization keeps neither recordings nor
 * transcripts, nothing that was said can be found anywhere: not in the files of Postgres, its write-ahead log or its server log, not as sound
 * in any file, compressed or not, and not in what webhooks are sent. Two other calls, which are kept, show that each of these searches finds
 * what is there.
 */
import { randomInt } from "node:crypto"
import { globSync, readFileSync, realpathSync } from "node:fs"
import { dirname, join } from "node:path"
import t, { type Test } from "tap"
import { decode, frameSize, sampleRate, silence } from "#core/audio/Mulaw.ts"
import { temporaryFolder } from "#test/support/dataFolder.ts"
import { installRecognizer, recognizerName } from "#test/support/installRecognizer.ts"
import { toMulaw } from "#test/emulators/ari/Sound.ts"
import { OpenAiEmulator } from "#test/emulators/openai/OpenAiEmulator.ts"
import { makeTalker, type Utterance } from "#test/emulators/shared/Talker.ts"
import { compressedIn, filesBelow, loudestOf, placesOf, someOf } from "#test/support/canarySearch.ts"
import { type Canaries, canariesOf, CanaryTalk, createCanaryAgent, letters } from "#test/support/canaryTalk.ts"
import { numbersOf, type Run, until, untilTrue, type Witness, World } from "#test/support/engine.ts"
import { type Receiver, receiver, webhook } from "#test/support/nodeWebhooks.ts"
import { witness } from "#test/support/postgres.ts"
import { likestPlace, sidesOf } from "#test/support/stereo.ts"
import { makeMouth } from "#test/support/utterances.ts"

const modelKey = `sk-${letters(24)}`
const digitWords = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
/** A number in the way that callees say theirs. */
const spokenNumber = () => Array.from({ length: 7 }, () => digitWords[randomInt(10)]).join(" ")
const kept = canariesOf(`quicksilver platypus ${spokenNumber()}`)
const unkept = canariesOf(`kaleidoscope mulberry ${spokenNumber()}`)
/** Without a number, because a digit may sound just like the same digit in the number of another call. */
const packed = canariesOf("nightingale rhubarb")
const speak = makeMouth()
const spoken = new Map([kept, unkept, packed].map((call) => [call.spoken, speak(call.spoken, { voice: "rms" })]))
const talk = new CanaryTalk(kept)

const lowHertz = [697, 770, 852, 941]
const highHertz = [1209, 1336, 1477]
const tonesMillis = 100
/** Compression runs at the lowest priority. */
const patienceMillis = 1_500_000

t.setTimeout(1_800_000)

/** The keys as a telephone sounds them. Their loudness and phase make them different from any others. */
const tonesOf = (keys: string): Utterance => {
  const [loudness, phase] = [randomInt(3000, 6000), Math.random() * Math.PI]
  const length = (tonesMillis / 1000) * sampleRate
  const bytes = [...keys].flatMap((key) => {
    const at = "123456789*0#".indexOf(key)
    const sine = (hertz: number, n: number) => loudness * Math.sin((2 * Math.PI * hertz * n) / sampleRate + phase)
    const [low = 0, high = 0] = [lowHertz[Math.floor(at / 3)], highHertz[at % 3]]
    const tone = Array.from({ length }, (_, n) => toMulaw(sine(low, n) + sine(high, n)))
    return [...tone, ...tone.map(() => silence)]
  })
  const frames = Array.from({ length: bytes.length / frameSize }, (_, at) => Buffer.from(bytes.slice(at * frameSize, (at + 1) * frameSize)))
  return { text: `keys ${keys}`, frames }
}
const tones = new Map([kept, unkept, packed].map((call) => [call, tonesOf(call.keyed)]))

/** Everything that a webhook can report about a call. */
const payload_template = {
  run: "{{workflow_run_id}}",
  given: "{{initial_context}}",
  gathered: "{{gathered_context}}",
  annotations: "{{annotations}}",
  used: "{{cost_info}}",
  transcript: "{{transcript_url}}",
  recording: "{{recording_url}}",
  callee: "{{user_recording_url}}",
  agent: "{{bot_recording_url}}"
}

/** What webhooks were sent about this run. */
const toldOf = ({ received }: Receiver, id: number): ReadonlyArray<Readonly<Record<string, unknown>>> =>
  received.map(({ body }) => JSON.parse(body)).filter(({ run, subject }) => subject === `runs/${id}` || String(run) === String(id))

/** A client of the engine's own Postgres. From now on, values are written uncompressed, because compressed ones would not be found. */
const ownPostgres = async (t: Test, folder: string): Promise<Witness> => {
  const read = (name: string) => readFileSync(join(folder, name), "utf8").trim()
  const sql = witness(`postgres://trunkline:${read("password")}@127.0.0.1:${read("port")}/postgres`)
  // Without waiting, because it would wait forever for a connection that died with its process.
  t.teardown(() => sql.end({ timeout: 0 }))
  await sql.unsafe(`
    DO $$ DECLARE one record; BEGIN
      FOR one IN SELECT attrelid::regclass AS name, attname FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND attnum > 0 AND NOT attisdropped AND attstorage IN ('x', 'm')
      LOOP EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STORAGE EXTERNAL', one.name, one.attname); END LOOP;
    END $$`)
  return sql
}

const open = async (t: Test) => {
  const temporary = temporaryFolder(t)
  const model = await OpenAiEmulator.start({ apiKey: modelKey, answer: (body) => talk.answer(body) })
  t.teardown(() => model.stop())
  const hooks = await receiver(t)
  const collector = await receiver(t)
  const folder = t.testdir({})
  const world = await World.open(t, {
    emulator: { ringMillis: 200, talkMillis: 600_000 },
    environment: {
      ...installRecognizer(folder, { callees: spoken }),
      DATABASE_URL: "",
      EGRESS_ALLOW: "127.0.0.0/8",
      LOG_LEVEL: "debug",
      OTEL_EXPORTER_OTLP_ENDPOINT: new URL(collector.url).origin,
      TMPDIR: temporary,
      WEBHOOK_PRIVATE_TARGETS: "on"
    },
    folder
  })
  const { api, emulator } = world
  emulator.letTalk(true)
  /** What the callee of the last call has heard. */
  let heard: Array<Buffer> = []
  /** The files of calls, whenever a callee presses keys. */
  const during: Array<ReadonlyArray<string>> = []
  emulator.log.talkerFor = (channelId) => {
    const number = emulator.log.of(channelId)[0]?.number ?? ""
    const moves = talk.moves({
      words: () => ({ says: spoken.get(talk.call.spoken) }),
      keys: () => {
        during.push(globSync("files/{recordings,transcripts}/*", { cwd: world.dataDir }))
        return { says: tones.get(talk.call) }
      }
    })
    const talker = makeTalker(moves, { press: () => {}, hangUp: () => emulator.hangUp(number) })
    const next: typeof talker.next = (frame) => {
      if (frame !== undefined) heard.push(Buffer.from(frame))
      return talker.next(frame)
    }
    return { ...talker, next }
  }
  const must = async (method: string, path: string, body: object) => {
    const answered = await api.ask(method, path, body)
    if (answered.status !== 200) throw new Error(`${method} ${path}: ${answered.status} ${JSON.stringify(answered.body)}`)
    // The cast holds because the route documents this shape.
    return answered.body as Readonly<Record<string, never>>
  }
  await must("POST", "/organizations/webhook-endpoints", { url: hooks.url })
  const hook = webhook("hook", { name: "Tell", endpoint_url: hooks.url, payload_template })
  const agent = await createCanaryAgent(must, await talk.lookUp(t), hook)
  const overrides = {
    llm: { provider: "openai", model: "emulated", api_key: modelKey, base_url: model.url },
    stt: { provider: recognizerName }
  }
  await must("PUT", `/workflow/${agent["id"]}`, { workflow_configurations: { model_overrides: overrides, max_user_idle_timeout: 60 } })
  const postgres = realpathSync(join(world.dataDir, "postgres"))
  const sql = await ownPostgres(t, postgres)

  /** Holds a whole call, and returns its run and the agent's audio once its webhooks have been sent. */
  const held = async (canaries: Canaries, number: string) => {
    heard = []
    talk.begin(canaries)
    const asked = { phone_number: number, initial_context: { given: canaries.given } }
    const { workflow_run_id: id } = await must("POST", `/public/agent/workflow/${agent["workflow_uuid"]}`, asked)
    const run = await until("end of the run", async () => {
      const run = (await api.ask("GET", `/workflow/${agent["id"]}/runs/${id}`)).body as Run
      return run.is_completed ? run : undefined
    })
    const told = () => toldOf(hooks, Number(id))
    await untilTrue(
      "its webhooks",
      () => told().some(({ type }) => type === "run.completed") && told().some(({ run }) => run !== undefined)
    )
    return { run, heard, told: told() }
  }
  const files = () =>
    new Map([
      ...filesBelow(world.dataDir, (path) => (path.startsWith("postgres/") ? undefined : dirname(path))),
      ...filesBelow(postgres, (path) => (path === "log" ? "log of Postgres" : "files of Postgres")),
      ...filesBelow(temporary, () => "temporary files")
    ])
  /** All places of these canaries except the run itself. */
  const search = async (canaries: Parameters<typeof placesOf>[0]) => {
    // Moves what is only in the write-ahead log to the tables' own files as well.
    await sql`CHECKPOINT`
    const told = hooks.received.map(({ body, headers, path }) => Buffer.from(`${path} ${JSON.stringify(headers)} ${body}`))
    return placesOf(canaries, new Map([...files(), ["webhooks", told], ["output", [Buffer.from(await output())]]]))
  }
  const output = async () => `${world.output()} ${await (await fetch(`${world.engine.url}/metrics`)).text()}`
  return { collector, during, files, held, must, output, postgres, search, sql }
}

/** What the agent's own webhook was sent. */
const nodesIn = (told: ReadonlyArray<Readonly<Record<string, unknown>>>) => told.filter(({ run }) => run !== undefined)
const soundsOf = (canaries: Canaries, heard: ReadonlyArray<Buffer>) => ({
  calleesVoice: someOf(spoken.get(canaries.spoken)?.frames ?? []),
  tones: someOf(tones.get(canaries)?.frames ?? []),
  agentsVoice: someOf(heard)
})

const isHeard = (side: Int16Array) => side.some((sample) => Math.abs(sample) > 2000)
const clipSamples = sampleRate / 4
/** Each side must be in its own channel, and the agent must speak before and after the callee. */
const judgeRecording = (t: Test, wav: Buffer) => {
  const { agent, callee } = sidesOf(wav)
  const samples = decode(Buffer.concat(spoken.get(kept.spoken)?.frames ?? []))
  // A busy machine may have lost one of them.
  const clips = [1, 2, 3].map((part) => samples.subarray(part * clipSamples, (part + 1) * clipSamples))
  const [place = { at: 0, likeness: 0 }] = clips.map((clip) => likestPlace(callee, clip)).toSorted((a, b) => b.likeness - a.likeness)
  t.ok(place.likeness > 0.9, "then the recording has the callee's words on their side", { place })
  for (const clip of clips) t.ok(likestPlace(agent, clip).likeness < 0.9, "and not on the agent's")
  t.ok(isHeard(agent.subarray(0, place.at)) && isHeard(agent.subarray(place.at + clipSamples)), "then the agent spoke before and after")
}
const clipsOf = (canaries: Canaries, heard: ReadonlyArray<Buffer>) => ({
  calleesVoice: loudestOf(spoken.get(canaries.spoken)?.frames ?? []),
  tones: loudestOf(tones.get(canaries)?.frames ?? []),
  agentsVoice: loudestOf(heard)
})
/**
 * Runs statements that quote what must not be logged: one fails because of its value, and one is cut off as its process dies, after which
 * Postgres restarts.
 */
const provoke = async (t: Test, { log, sql }: { readonly log: () => string; readonly sql: Witness }, word: string): Promise<void> => {
  await t.rejects(sql`SELECT ${word}::text::int`, { message: new RegExp(word) })
  await t.rejects(sql.unsafe(`INSERT INTO opt_outs (phone_number, source) VALUES ('${word}', 'call')`))
  const cutOff = t.rejects(sql.unsafe(`SELECT pg_sleep(600), '${word}'`))
  const pid = await until("its process", async () => {
    const [found] = await sql`SELECT pid FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' AND pid <> pg_backend_pid()`
    return found === undefined ? undefined : Number(found["pid"])
  })
  process.kill(pid, "SIGKILL")
  await cutOff
  await untilTrue("word of it in the log", () => log().includes("was terminated by signal 9"))
  // A Postgres that is told to stop during recovery may never do so.
  await untilTrue("its return", () => log().split("ready to accept connections").length > 2)
}

t.test("given an engine with its own Postgres, and a collector of traces", async (t) => {
  const { collector, during, files, held, must, output, postgres, search, sql } = await open(t)
  const [first = "", second = "", third = ""] = numbersOf(3, ["11"])
  const settings = { concurrency_limit: 10, concurrency_reserve: 0 }

  await t.test("when the organization keeps nothing of a call, then nothing of it is stored but its result", async (t) => {
    await must("PUT", "/organizations/settings", { ...settings, recordings_enabled: false, transcripts_enabled: false })
    const { heard, run, told } = await held(unkept, first)
    t.match(run, {
      recording_url: null,
      transcript_url: null,
      gathered_context: { call_disposition: "user_qualified", dtmf_digits: new RegExp(unkept.keyed), wish: unkept.gathered }
    })
    const result = ["files of Postgres", "webhooks"]
    t.strictSame(await search({ ...unkept, ...soundsOf(unkept, heard) }), {
      spoken: [],
      keyed: result,
      said: [],
      asked: [],
      answered: [],
      gathered: result,
      given: result,
      calleesVoice: [],
      tones: [],
      agentsVoice: []
    })
    t.match(nodesIn(told), [{ transcript: /^$/, recording: /^$/, callee: /^$/, agent: /^$/ }])
    t.strictSame(await compressedIn(clipsOf(unkept, heard), files()), { calleesVoice: [], tones: [], agentsVoice: [] })
    t.ok(during.length > 0)
    t.strictSame(during.flat(), [], "nor has it files during the call")
  })

  await t.test("when it keeps everything of the next call, then that is in the run, its files and the database", async (t) => {
    await must("PUT", "/organizations/settings", { ...settings, recordings_enabled: true, transcripts_enabled: true })
    const { heard, told } = await held(kept, second)
    const written = ["files of Postgres", "files/transcripts"]
    const result = ["files of Postgres", "webhooks"]
    t.strictSame(await search({ ...kept, ...soundsOf(kept, heard) }), {
      spoken: written,
      keyed: result,
      said: written,
      asked: ["files of Postgres"],
      answered: ["files of Postgres"],
      gathered: result,
      given: result,
      calleesVoice: ["files/recordings"],
      tones: ["files/recordings"],
      agentsVoice: ["files/recordings"]
    })
    const [{ recording = "", transcript = "" } = {}] = nodesIn(told)
    const text = await (await fetch(String(transcript))).text()
    t.ok(text.includes(kept.spoken) && text.includes(kept.said), "then webhooks are sent the transcript's address")
    const wav = Buffer.from(await (await fetch(String(recording))).arrayBuffer())
    const { tones } = placesOf(soundsOf(kept, heard), new Map([["here", [wav]]]))
    t.strictSame(tones, ["here"], "and the recording")
    judgeRecording(t, wav)
  })

  await t.test("when it keeps a compressed recording of another call, then its sound is stored nowhere else", async (t) => {
    await must("PUT", "/organizations/settings", { ...settings, recording_format: "opus" })
    const { heard } = await held(packed, third)
    const compressed = async () => {
      const [left] = await sql`SELECT FROM stored_files WHERE to_compress`
      const [named] = await sql`SELECT FROM runs WHERE recording_key LIKE '%.opus'`
      return named !== undefined && left === undefined
    }
    await untilTrue("its compression", compressed, patienceMillis)
    // The agent greets every callee in the same way, so its voice is also in the recording of the call before.
    const { calleesVoice, tones } = await search(soundsOf(packed, heard))
    t.strictSame({ calleesVoice, tones }, { calleesVoice: [], tones: [] })
    const only = ["files/recordings"]
    const before = clipsOf(kept, []).calleesVoice
    const found = await compressedIn({ ...clipsOf(packed, heard), before }, files())
    t.strictSame(found, { calleesVoice: only, tones: only, agentsVoice: only, before: [] })
  })

  await t.test(
    "when statements with a word fail and die, then the log of Postgres contains neither that word nor anything of the calls",
    async (t) => {
      const word = letters(16)
      const log = () => readFileSync(join(postgres, "log"), "utf8")
      await provoke(t, { log, sql }, word)
      const words = [word, modelKey, first, second, third, ...[kept, unkept, packed].flatMap((call) => Object.values(call))]
      const logged = words.filter((one) => log().includes(one))
      t.strictSame(logged, [])
    }
  )

  await untilTrue("traces", () => collector.received.length > 0)
  const exported = collector.received.map(({ body }) => body).join("\n")
  const told = `${exported} ${await output()}`
  const words = [modelKey, first, second, third, ...[kept, unkept, packed].flatMap((call) => Object.values(call))]
  const found = words.filter((one) => told.includes(one))
  t.strictSame(found, [], "then nothing of this is in the traces, logs and metrics")
  t.strictSame(await search({ modelKey }), { modelKey: [] }, "and the model's key is nowhere")
})
