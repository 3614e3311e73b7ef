/**
 * Recordings of conversations, judged by what is heard in them: each side's channel contains what that side said, when it said it, and the
 * transcript has the same times. The calls are those of the faulty services, in simulated time, so that no time depends on the machine.
 */
import { readFile, rm } from "node:fs/promises"
import t from "tap"
import { encode, frameMillis, frameSize, sampleRate } from "#core/audio/Mulaw.ts"
import type { CallFact } from "#core/conversation/ConversationEntry.ts"
import { temporaryFolder } from "#test/support/dataFolder.ts"
import { type FaultyTalk, faultyTalk, mostStalledMillis, recordingIn } from "#test/support/faultyTalk.ts"
import { sidesOf } from "#test/support/stereo.ts"
import { talkStart } from "#test/support/talk.ts"

const callsOfAKind = 40
/** The largest difference between the transcript and the recording, in milliseconds. */
const mostApart = 100
/** The smallest amplitude of a sample of speech. */
const audible = 400

const folder = temporaryFolder(t)

type Said = Extract<CallFact, { readonly _tag: "Said" }>
/** In milliseconds since the start of the recording. */
interface Heard {
  readonly text: string
  readonly from: number
  readonly until: number
}

const bytesPerMillis = (sampleRate * 2) / 1000
const recording = async () => {
  const wav = await readFile(recordingIn(folder))
  await rm(recordingIn(folder))
  return sidesOf(wav)
}

const saidBy = (speaker: Said["speaker"], { facts }: FaultyTalk): ReadonlyArray<Heard> =>
  facts
    .filter((fact): fact is Said => fact._tag === "Said" && fact.speaker === speaker)
    .map(({ at, text, until }) => ({ text, from: at - talkStart, until: until - talkStart }))

const isNear = (one: number, other: number | undefined, millis = mostApart) => other !== undefined && Math.abs(one - other) <= millis

/** The sentences of the agent that can be heard in its channel, in order. */
const sentencesIn = (agent: Int16Array, { sentenceIn }: FaultyTalk): ReadonlyArray<Heard> => {
  const codes = encode(agent)
  const heard = new Map<number, Heard>()
  for (let at = 0; at + frameSize <= codes.length; at += frameSize) {
    const { id, text } = sentenceIn(codes.subarray(at, at + frameSize))
    const from = (at / frameSize) * frameMillis
    if (text !== undefined) heard.set(id, { text, from: heard.get(id)?.from ?? from, until: from + frameMillis })
  }
  return [...heard.values()]
}

/** Whether what was heard of a line starts with the sentence, or is part of it. */
const isBegun = (rest: string, sentence = ""): boolean => sentence !== "" && (rest.startsWith(sentence) || sentence.startsWith(rest))

/** The lines of the agent that are not heard at the times of the transcript. */
const strayLines = (lines: ReadonlyArray<Heard>, heard: ReadonlyArray<Heard>): ReadonlyArray<unknown> =>
  lines.flatMap((line) => {
    const from = heard.findIndex((sentence) => isBegun(line.text, sentence.text) && isNear(line.from, sentence.from))
    let [next, rest] = [from, line.text]
    while (from >= 0 && rest !== "" && isBegun(rest, heard[next]?.text)) rest = rest.slice(heard[next++]?.text.length).trim()
    // No whole word of the following sentence was heard.
    const isCutThere = [heard[next - 1], heard[next]].some((last) => isNear(line.until, last?.until))
    return rest === "" && isCutThere ? [] : [{ line, heard: heard.slice(Math.max(0, from)) }]
  })

/** Where each of the callee's sentences is in its channel, sample by sample. Undefined if it is not there. */
const placesIn = (callee: Int16Array, { spoken }: FaultyTalk): ReadonlyArray<number | undefined> => {
  const channel = Buffer.from(callee.buffer)
  let after = 0
  return spoken.map(({ samples }) => {
    const at = channel.indexOf(Buffer.from(samples.buffer), after)
    if (at >= 0) after = at + samples.byteLength
    return at < 0 ? undefined : at / bytesPerMillis
  })
}

/** The callee's sentences that are not at the right place in the recording. A hangup may have cut the last one short. */
const strayPlaces = ({ millis, spoken }: FaultyTalk, places: ReadonlyArray<number | undefined>): ReadonlyArray<unknown> =>
  spoken.flatMap(({ from, samples, text }, index) => {
    const isWhole = from + (samples.length * 1000) / sampleRate < millis
    return isWhole && !isNear(from, places[index], 2 * frameMillis) ? [{ text, from, place: places[index] }] : []
  })

/** The callee's turns at whose times no sentence starts or ends. */
const strayTurns = (talk: FaultyTalk, places: ReadonlyArray<number | undefined>, apart: number): ReadonlyArray<unknown> => {
  const isLoud = (sample: number) => Math.abs(sample) > audible
  const sounds = talk.spoken.flatMap(({ samples }, index) => {
    const at = places[index]
    const millis = (sample: number) => (at ?? 0) + (sample * 1000) / sampleRate
    return at === undefined ? [] : [{ from: millis(samples.findIndex(isLoud)), until: millis(samples.findLastIndex(isLoud)) }]
  })
  return saidBy("user", talk)
    .filter(({ text }) => !text.startsWith("pressed"))
    .filter(
      (turn) => !sounds.some(({ from }) => isNear(turn.from, from, apart)) || !sounds.some(({ until }) => isNear(turn.until, until, apart))
    )
    .map((turn) => ({ turn, sounds }))
}

const kinds = [
  { name: "a carrier that tells what it has played", options: { lag: 2 }, apart: mostApart },
  { name: "a carrier that buffers", options: { lag: 8 }, apart: mostApart },
  { name: "a carrier that tells nothing", options: { lag: "untold" }, apart: mostApart },
  // If several frames arrive together, it is unknown how old the first one is.
  { name: "an engine that often stands still", options: { stalls: true }, apart: mostApart + mostStalledMillis }
] as const

for (const { apart, name, options } of kinds)
  t.test(`given ${name}, when calls are recorded, then each side is heard at the times of the transcript`, async (t) => {
    let lines = 0
    let turns = 0
    for (let seed = 1; seed <= callsOfAKind; seed++) {
      const talk = await faultyTalk(seed, folder, { record: true, ...options })
      const { agent, callee } = await recording()
      const places = placesIn(callee, talk)
      const stray = {
        lines: strayLines(saidBy("assistant", talk), sentencesIn(agent, talk)),
        places: strayPlaces(talk, places),
        turns: strayTurns(talk, places, apart)
      }
      if (Object.values(stray).some((some) => some.length > 0)) t.fail(`call ${seed}`, { ...stray, story: talk.story })
      lines += saidBy("assistant", talk).length
      turns += saidBy("user", talk).length
    }
    t.ok(lines > 3 * callsOfAKind && turns > callsOfAKind, "then both sides have said something", { lines, turns })
  })
