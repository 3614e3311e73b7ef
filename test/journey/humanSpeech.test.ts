/**
 * Twenty open conversations on what an engine has by itself: Moonshine hears, Flite speaks, and any server of a language model thinks, without a key. Ten
 * callees are recordings of people, ten synthetic, all over the band of a phone; they are called through a real Asterisk and through a carrier, all at once.
 */
import { symlinkSync } from "node:fs"
import { join } from "node:path"
import t from "tap"
import { encodeFrames, frameSize, sampleRate } from "#core/audio/Mulaw.ts"
import { type Answers, hangsUp, openConversations } from "#test/conversations/openConversations.ts"
import { parcelAgent, type Question, questions, startKeylessModel } from "#test/conversations/parcelAgent.ts"
import type { Utterance } from "#test/emulators/shared/Talker.ts"
import { asteriskUnavailable } from "#test/support/asterisk.ts"
import { temporaryFolder } from "#test/support/dataFolder.ts"
import { numbersOf } from "#test/support/engine.ts"
import { overPhone, plainWords, wrongWords } from "#test/support/hearing/openTrial.ts"
import { keptSpeech } from "#test/support/keptSpeech.ts"
import { moonshineRoot, moonshineUnavailable } from "#test/support/moonshine.ts"
import { englishPrompt, promptsUnavailable } from "#test/support/prompts.ts"
import { people, recordingsUnavailable } from "#test/support/recordings.ts"

const skip =
  (await asteriskUnavailable()) ??
  (await moonshineUnavailable()) ??
  (await promptsUnavailable()) ??
  (await recordingsUnavailable()) ??
  false
const through = ["asterisk", "twilio"] as const
/** Of all the words of the messages, as a share. Ten sentences of an audio book and of card players, and ten synthetic ones. */
const mostWrong = 0.15
/** Nobody answers the same question more often. */
const mostAsked = 4

interface Said {
  readonly text: string
  readonly samples: Int16Array
  /** What is said if it was not understood. */
  readonly again?: Int16Array
}
type Callee = { readonly [Asked in Question]: Said }

const prompt = (name: string, text: string) => ({ text, samples: englishPrompt(name) })
const days = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]
const numbers = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
const circles = ["family", "friends", "work"]
const inTurn = <A>(some: ReadonlyArray<A>, at: number): A => some[at % some.length] as A // never empty

/** One woman answers the questions, two or three people leave the messages. */
const recorded = (): ReadonlyArray<Callee> =>
  people().map((message, at) => ({
    day: prompt(`digits/day-${at % days.length}`, inTurn(days, at)),
    boxes: prompt(`digits/${at + 1}`, inTurn(numbers, at)),
    message,
    whose: prompt(inTurn(["vm-Family", "vm-Friends", "vm-Work"], at), inTurn(circles, at))
  }))

const messages = [
  "the bell is broken so please knock at the side door",
  "leave it with the neighbour if nobody is at home",
  "he should not use the bridge because it is closed",
  "put the parcel behind the garden fence",
  "our dog is friendly but he barks a lot",
  "we live on the second floor above the bakery",
  "call me when you are ten minutes away",
  "there is a parking space in front of the school",
  "the gate sticks so push it hard",
  "my mother will open the door for him"
]
/** Flite's "Tuesday" and "Thursday" sound like "to the" and "firstly". */
const clearDays = ["sunday", "monday", "wednesday", "friday"]
const synthetic = (): ReadonlyArray<Callee> =>
  messages.map((message, at) => {
    const voiced = (text: string) => keptSpeech(inTurn(["rms", "slt"] as const, at), text)
    const speak = (text: string, again = text): Said => ({ text, samples: voiced(text), again: voiced(again) })
    const [day, boxes] = [inTurn(clearDays, at), inTurn(numbers, at + 1)]
    return {
      day: speak(`on ${day} please`, day),
      boxes: speak(`we have ${boxes} of them`, boxes),
      message: speak(message),
      whose: speak(`it is for ${inTurn(["my family", "some friends", "work"], at)}`, inTurn(circles, at))
    }
  })

const gapMillis = 200
const gap = new Int16Array((sampleRate * gapMillis) / 1000)
const utteranceOf = (text: string, samples: Int16Array): Utterance => {
  const codes = Buffer.from(encodeFrames(overPhone(Int16Array.of(...samples, ...gap))))
  return {
    text,
    frames: Array.from({ length: codes.length / frameSize }, (_, at) => codes.subarray(at * frameSize, (at + 1) * frameSize))
  }
}
/** Answers the last question, also when asked whether anybody is still there. */
const answering = (callee: Callee): Answers => {
  const all = Object.entries(questions).map(([asked, question]) => {
    // Cast: the keys of the questions.
    const { again, samples, text } = callee[asked as Question]
    return { question, first: utteranceOf(text, samples), next: utteranceOf(text, again ?? samples) }
  })
  return (lines) => {
    const last = lines.findLast((line) => !/still there/i.test(line)) ?? ""
    const found = all.find(({ question }) => last.includes(question))
    const asked = lines.filter((line) => found !== undefined && line.includes(found.question)).length
    if (asked > mostAsked) return hangsUp
    return asked > 1 ? found?.next : found?.first
  }
}

const ends: Readonly<Record<string, string>> = { family: "For the family", friends: "For friends", work: "For work" }
const endOf = (text: string) => ends[circles.find((one) => text.includes(one)) ?? ""]
const numberIn = (text: string): number => numbers.findIndex((one) => text.split(" ").includes(one)) + 1

t.test("given an engine with what it has by itself, when people speak to its agent", { skip, timeout: 1_800_000 }, async (t) => {
  const callees = [...recorded(), ...synthetic()]
  const phones = numbersOf(callees.length, ["11"])
  const folder = temporaryFolder(t)
  symlinkSync(moonshineRoot, join(folder, "models"))
  const { hasCredentials, settings } = await startKeylessModel(t)
  const setting = {
    definition: parcelAgent,
    // On a busy machine, a recognizer may need longer for an answer than a callee may normally be silent.
    configurations: { max_call_duration: 1200, max_user_idle_timeout: 60, model_overrides: { llm: settings } },
    callees: new Map(callees.map((callee, at) => [phones[at] ?? "", answering(callee)])),
    through
  }
  const environment = { DATA_DIR: folder, HEARING: "moonshine", ORG_CONCURRENCY: String(callees.length) }
  const { call, ended, originated } = await openConversations(t, setting, { environment })
  const runs = await Promise.all(phones.map(async (phone, at) => ended(await call(phone, {}, inTurn(through, at)))))

  let [words, wrong] = [0, 0]
  for (const [at, { gathered_context: gathered, logs }] of runs.entries()) {
    const { boxes, day, message, whose } = callees[at] ?? {}
    const { message: heard, ...variables } = (gathered?.["extracted_variables"] ?? {}) as Record<string, unknown>
    const [said, got] = [plainWords(message?.text ?? ""), plainWords(String(heard ?? ""))]
    const expected = {
      nodes_visited: ["Day", "Boxes", "Message", "Whose", endOf(whose?.text ?? "")],
      extracted_variables: {
        day: days.find((one) => day?.text.includes(one)),
        boxes: numberIn(boxes?.text ?? "")
      }
    }
    t.comment(`${whose?.text}: ${JSON.stringify(variables)} "${said.join(" ")}" heard as "${got.join(" ")}"`)
    t.match(gathered, expected, "then it ends where it should, with what was said", { logs })
    words += said.length
    wrong += wrongWords(said, got)
  }
  t.ok(wrong / words <= mostWrong, `and ${wrong} of the messages' ${words} words are wrong`)
  t.equal(originated(), callees.length, "and each was called once")
  t.notOk(hasCredentials(), "and the model's server was asked without a key")
})
