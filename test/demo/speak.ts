/** Synthesizes what the demo's callees hear and say: the agent's sentences in the agent's own voice, and theirs in another one. */
import { Effect } from "effect"
import { frameSize } from "#core/audio/Mulaw.ts"
import { Tts } from "#runtime/voice/Tts.ts"
import { fliteLayer } from "#test/support/flite.ts"
import { knownSpeechOf } from "#test/support/knownSpeech.ts"
import { makeMouth, type SpokenUtterance } from "#test/support/utterances.ts"
import { type Conversation, sentencesHeard, sentencesSaid } from "./Appointments.ts"
import type { Speech } from "./TalkingCallee.ts"

const voice = "rms"

const utteranceOf = (text: string, speech: Uint8Array): SpokenUtterance => {
  const codes = Buffer.from(speech)
  const frames = Array.from({ length: codes.length / frameSize }, (_, at) => codes.subarray(at * frameSize, (at + 1) * frameSize))
  return { text, frames, parts: [{ text, frames }] }
}

const byText = (spoken: ReadonlyArray<SpokenUtterance>): ReadonlyMap<string, SpokenUtterance> =>
  new Map(spoken.map((one) => [one.text, one]))

export const speak = async (conversations: ReadonlyArray<Conversation>): Promise<Speech> => {
  const agent = Effect.gen(function* () {
    const tts = yield* Tts
    return yield* Effect.forEach(sentencesHeard(conversations), (text) =>
      tts.speak(text).pipe(
        // A call would not wait longer, but here nobody does.
        Effect.retry({ times: 20, while: ({ reason }) => reason === "TimedOut" }),
        Effect.map((speech) => utteranceOf(text, speech))
      )
    )
  })
  const mouth = makeMouth()
  const spoken = await Effect.runPromise(Effect.provide(agent, fliteLayer({ workers: 1 })))
  return {
    agent: byText(spoken),
    known: knownSpeechOf(spoken),
    callees: byText(sentencesSaid(conversations).map((text) => mouth(text, { voice })))
  }
}
