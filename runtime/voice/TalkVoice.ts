/** The voice of a conversation: how its lines are spoken, and what the run keeps of them. */
import { Cause, Effect } from "effect"
import type { CallFact } from "#core/conversation/ConversationEntry.ts"
import type { RecordingName } from "#core/agent/RecordingName.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import type { LineSpeaker, MadeSpeech } from "./LineSpeaker.ts"
import type { Openings } from "./Openings.ts"
import type { RecordingUnplayable } from "./RecordedSpeech.ts"
import type { TalkMeter } from "./TalkMeter.ts"
import type { TtsError } from "./Tts.ts"
import { noteFirstAudio, noteTrouble, type Trouble, type Voice } from "./Voice.ts"
import type { VoicePlan } from "./VoiceSession.ts"

interface TalkVoicePorts {
  readonly note: (fact: CallFact) => void
  readonly meter: TalkMeter
  /** The pacer's clock. */
  readonly now: () => number
  readonly plan: VoicePlan
  readonly openings: Openings
  /** Undefined until the line is open. */
  readonly voice: () => Voice | undefined
}

const unspoken = { error: "A line could not be spoken", logged: "line not spoken" }
const unplayed = { error: "A recording could not be played", logged: "recording not played" }

export const voicedBy = ({
  meter,
  note,
  now,
  openings,
  plan,
  voice
}: TalkVoicePorts): Pick<ConstructorParameters<typeof LineSpeaker>[0], "begun" | "heard" | "record" | "speak"> => {
  const wantedIn = (aheadMillis: number) =>
    Effect.map(SteadyTime.now, (steady) => ({ isAnswered: true, neededAt: steady + aheadMillis, campaignId: plan.campaignId }))
  const noted = <A>(made: Effect.Effect<A, TtsError | RecordingUnplayable>, trouble: Trouble) =>
    Effect.tapCause(made, (cause) => {
      const open = voice()
      return open === undefined || Cause.hasInterruptsOnly(cause) ? Effect.void : noteTrouble(open, trouble, cause)
    })
  const speak = Effect.fnUntraced(function* (text: string, aheadMillis: number, part: (speech: Uint8Array) => void) {
    const askedAt = now()
    let isBegun = false
    const begun = () => {
      if (isBegun) return
      isBegun = true
      if (aheadMillis === 0) meter.synthesized(now() - askedAt)
      noteMade({ text }, openings.engineOf(plan), openings.voiceOf(plan), true)
    }
    const made = yield* openings.sentence(text, yield* wantedIn(aheadMillis), plan.voice, (speech) => {
      begun()
      part(speech)
    })
    if (made !== undefined) begun()
    return made
  })
  const record = Effect.fnUntraced(function* (recording: RecordingName) {
    const found = yield* openings.recorded(plan.organizationId, recording, yield* wantedIn(0))
    noteMade(found, "recording", found.recordingId, false)
    return found
  })
  const noteMade = ({ text }: Pick<MadeSpeech, "text">, engine: string, name: string, isSynthesized: boolean) => {
    const noted = voice()?.noted
    if (noted === undefined) return
    noted.saying = { engine, voice: name }
    if (isSynthesized) noted.characters += text.length
  }
  return {
    speak: (text, aheadMillis, part) => noted(speak(text, aheadMillis, part), { ...unspoken, processor: openings.engineOf(plan) }),
    record: (recording) => noted(record(recording), { ...unplayed, processor: "recording" }),
    begun: (at) => {
      const open = voice()
      if (open !== undefined) noteFirstAudio(open, at)
      meter.agentHeard(at)
    },
    heard: ({ from, text, until }) => {
      const open = voice()
      if (open === undefined) return
      note({ _tag: "Said", speaker: "assistant", text, at: open.epochOf(from), until: open.epochOf(until) })
    }
  }
}
