/**
 * Calls from Debian's Chromium: what it offers, takes, hears and says is no other program's idea of a browser. In one of them, recordings of a person
 * answer the agent's questions, and Moonshine recognizes them.
 */
import { readdirSync, readFileSync, symlinkSync } from "node:fs"
import { basename, join } from "node:path"
import t, { type Test } from "tap"
import { edge, extracted, graph, node } from "#core/agent/templates/parts.ts"
import { decode, encode } from "#core/audio/Mulaw.ts"
import { callsFrom, startRun } from "#test/support/callingPage.ts"
import { chromiumUnavailable, openPage, withMicrophone } from "#test/support/chromium.ts"
import { temporaryFolder } from "#test/support/dataFolder.ts"
import { type Run, World } from "#test/support/engine.ts"
import { keptSpeech } from "#test/support/keptSpeech.ts"
import { moonshineRoot, moonshineUnavailable } from "#test/support/moonshine.ts"
import { englishPrompt, promptsUnavailable } from "#test/support/prompts.ts"
import { conversesFrom } from "#test/support/speakingPage.ts"
import { likestPlace, sidesOf } from "#test/support/stereo.ts"
import { until, untilTrue } from "#test/support/until.ts"

const skip = (await chromiumUnavailable()) ?? (await moonshineUnavailable()) ?? (await promptsUnavailable()) ?? false

/** What the agent asks, and which recording answers, however often it asks. */
const turns = [
  { question: "On which day shall we deliver it?", answer: "digits/day-5" },
  { question: "How many empty boxes shall we take back?", answer: "digits/7" },
  { question: "May we ring the doorbell?", answer: "vm-no" }
]
/** What the last line asks. Asked whether somebody is still there, the person answers the last question again. */
const askedIn = (lines: ReadonlyArray<string>) => {
  const questionIn = (line = "") => turns.find(({ question }) => line.includes(question))
  const last = lines.at(-1)
  return questionIn(/still there/i.test(last ?? "") ? lines.findLast(questionIn) : last)
}
const [whichDay = "", howMany = "", mayRing = ""] = turns.map(({ question }) => question)

const saying = (line: string) => ({ add_global_prompt: false, prompt: `Say: "${line}"` })
const definition = graph(
  [
    node("date", "startCall", [0, 0], {
      ...saying(whichDay),
      name: "Day",
      greeting_type: "text",
      greeting: `Hello, this is Acme about your order. ${whichDay}`,
      ...extracted("The day.", { name: "delivery_date", type: "string", prompt: "The day of the delivery." })
    }),
    node("boxes", "agentNode", [0, 1], {
      ...saying(howMany),
      name: "Boxes",
      ...extracted("The boxes.", { name: "boxes", type: "number", prompt: "How many empty boxes are taken back." })
    }),
    node("doorbell", "agentNode", [0, 2], { ...saying(mayRing), name: "Doorbell" }),
    node("rings", "endCall", [0, 3], { ...saying("We will ring the doorbell. Goodbye."), name: "Delivered with a ring" }),
    node("quiet", "endCall", [1, 3], { ...saying("We will not ring the doorbell. Goodbye."), name: "Delivered quietly" })
  ],
  [
    edge("date", "boxes", "Day named", "The callee has named a day."),
    edge("boxes", "doorbell", "Boxes told", "The callee has told how many."),
    edge("doorbell", "rings", "Yes", "The callee agrees."),
    edge("doorbell", "quiet", "No", "The callee says no.")
  ]
)

const open = async (t: Test) => {
  const folder = temporaryFolder(t)
  symlinkSync(moonshineRoot, join(folder, "models"))
  const world = await World.open(t, {
    environment: { DATA_DIR: folder, HEARING: "moonshine-base", POCKETSPHINX_DIR: "off" },
    greeting: "Good morning to you and to everybody else."
  })
  const page = await openPage(t, withMicrophone)
  await page.open(`${world.engine.url}/api/v1/health`)
  const ended = (path: string) =>
    until("its record", async () => {
      // The cast holds because the service builds its answers from this type.
      const record = (await world.api.ask("GET", path)).body as Run
      return record.is_completed ? record : undefined
    })
  /** The recording that is there in addition to those that were there before. */
  const known = new Set<string>()
  const recording = async () => {
    const path = await until("the recording", () =>
      readdirSync(folder, { recursive: true })
        .map(String)
        .find((file) => file.endsWith(".wav") && !known.has(basename(file)))
    )
    known.add(basename(path))
    return sidesOf(readFileSync(join(folder, path)))
  }
  return { ended, page, recording, world }
}

const clipSamples = 2000
const likeness = (side: Int16Array, clip: Int16Array) => likestPlace(side, clip).likeness
/** Three parts from the middle of a sound: on a busy machine, some may have arrived with a gap. */
const clipsOf = (sound: Int16Array): ReadonlyArray<Int16Array> =>
  [-1, 0, 1].map((part) => {
    const from = Math.floor((sound.length - clipSamples) / 2 + (part * clipSamples) / 2)
    return sound.subarray(from, from + clipSamples)
  })
const isIn = (side: Int16Array, sound: Int16Array): boolean => clipsOf(sound).some((clip) => likeness(side, clip) > 0.9)
const agentsVoice = (line: string) => decode(encode(keptSpeech("slt", line)))

/** What the page has received, by its own count. */
const received = `(async () => {
  const stats = [...(await connection.getStats()).values()]
  const inbound = stats.find(({ type }) => type === "inbound-rtp")
  const codec = stats.find(({ id }) => id === inbound?.codecId)
  return { energy: inbound?.totalAudioEnergy ?? 0, packets: inbound?.packetsReceived ?? 0, codec: codec?.mimeType }
})()`

t.test("given a page in Chromium", { skip }, async (t) => {
  const { ended, page, recording, world } = await open(t)

  await t.test("when recordings of a person answer an agent, then it understands them, to the end of the conversation", async (t) => {
    const { body } = await world.api.ask("POST", "/workflow/create/definition", { name: "Orders", workflow_definition: definition })
    const { id } = body as { readonly id: number } // the reply to the creation
    // On a busy machine, understanding an answer may take longer than the default limit of a caller's silence.
    await world.api.ask("PUT", `/workflow/${id}`, { workflow_configurations: { max_call_duration: 1200, max_user_idle_timeout: 60 } })
    const { path, socket } = await startRun(world, id)
    const caller = await conversesFrom(page, socket)
    let answered = 0
    await untilTrue("end of the call", async () => {
      const { isAgentDone, isOver, lines } = await caller.state()
      const turn = askedIn(lines)
      if (isAgentDone && lines.length > answered && turn !== undefined) {
        answered = lines.length
        await caller.say(englishPrompt(turn.answer))
      }
      return isOver
    })
    t.match(await ended(path), {
      gathered_context: {
        call_disposition: "user_qualified",
        extracted_variables: { boxes: 7, delivery_date: "friday" },
        nodes_visited: ["Day", "Boxes", "Doorbell", "Delivered quietly"]
      }
    })
    const heard = await caller.heard()
    const { agent, callee } = await recording()
    for (const { answer, question } of turns) {
      t.ok(isIn(heard, agentsVoice(question)), "then the page has heard the agent ask", { question })
      t.ok(isIn(agent, agentsVoice(question)) && isIn(callee, englishPrompt(answer)), "and the record has both sides", { question })
    }
    t.notOk(isIn(agent, englishPrompt(turns[0]?.answer ?? "")) || isIn(callee, agentsVoice(whichDay)), "each in its place")
    t.strictSame(page.complaints, [])
  })

  await t.test("when it is left during a call by the microphone that it is given, then the call is hung up", async (t) => {
    const { path, socket } = await startRun(world, world.agentId)
    await page.evaluate(callsFrom("navigator.mediaDevices.getUserMedia({ audio: true })", socket))
    const heard = await until("a voice", async () => {
      // The cast holds because the expression is ours.
      const so = (await page.evaluate(received)) as { readonly energy: number; readonly packets: number; readonly codec: string }
      return so.energy > 0.01 && so.packets > 100 ? so : undefined
    })
    t.equal(heard.codec, "audio/PCMU")
    await page.open("about:blank")
    t.match(await ended(path), { gathered_context: { call_disposition: "user_hangup" } })
    const { callee } = await recording()
    t.ok(
      callee.some((sample) => Math.abs(sample) > 1000),
      "the beeps of the microphone are recorded"
    )
    t.strictSame(page.complaints, [])
  })
})
