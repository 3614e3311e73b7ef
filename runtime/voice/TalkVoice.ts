/** The voice of a conversation: how its lines are spoken, and what the run keeps of them. */
import { Cause, Effect } from "effect"
import type { CallFact } from "#core/conversation/ConversationEntry.ts"
import type { RecordingName } from "#core/agent/RecordingName.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { CallVoice } from "./CallVoice.ts"
import type { LineSpeaker } from "./LineSpeaker.ts"
import type { Openings, Saying } from "./Openings.ts"
import type { RecordingUnplayable } from "./RecordedSpeech.ts"
import type { TalkMeter } from "./TalkMeter.ts"
import type { TakePart, TtsError } from "./Tts.ts"
import { noteFirstAudio, noteTrouble, type Trouble, type Voice } from "./Voice.ts"
import type { VoicePlan } from "./VoiceSession.ts"

interface VoicePorts {
  readonly plan: VoicePlan
  readonly openings: Openings
  /** Undefined until the line is open. */
  readonly voice: () => Voice | undefined
}

interface TalkVoicePorts extends VoicePorts {
  readonly note: (fact: CallFact) => void
  readonly meter: TalkMeter
  /** The pacer's clock. */
  readonly now: () => number
  readonly callVoice: CallVoice
}

const unspoken = { error: "A line could not be spoken", logged: "line not spoken" }
const replaced = { error: "A line was spoken by another voice", logged: "line spoken by another voice" }
const unplayed = { error: "A recording could not be played", logged: "recording not played" }

export const callVoiceOf = ({ openings, plan, voice }: VoicePorts): CallVoice => {
  const { hintsAt, plan: conversation } = plan.conversation
  return new CallVoice({
    openings,
    chosen: plan.voice,
    campaignId: plan.campaignId,
    language: hintsAt(conversation.graph.start).language,
    replaced: ({ provider }, error) => {
      const open = voice()
      return open === undefined ? Effect.void : noteTrouble(open, { ...replaced, processor: provider }, Cause.fail(error))
    }
  })
}

export const voicedBy = ({
  callVoice,
  meter,
  note,
  now,
  openings,
  plan,
  voice
}: TalkVoicePorts): Pick<ConstructorParameters<typeof LineSpeaker>[0], "begun" | "heard" | "record" | "speak"> => {
  const noted = <A>(made: Effect.Effect<A, TtsError | RecordingUnplayable>, trouble: () => Trouble) =>
    Effect.tapCause(made, (cause) => {
      const open = voice()
      return open === undefined || Cause.hasInterruptsOnly(cause) ? Effect.void : noteTrouble(open, trouble(), cause)
    })
  const says = (saying: Saying) => {
    const open = voice()
    if (open !== undefined) open.noted.saying = saying
  }
  const speak = (text: string, aheadMillis: number, part: TakePart) => {
    const askedAt = now()
    const begun = (by: Saying) => {
      if (aheadMillis === 0) meter.synthesized(now() - askedAt, by)
      says(by)
    }
    return callVoice.speak(text, aheadMillis, begun, part)
  }
  const record = Effect.fnUntraced(function* (recording: RecordingName) {
    const wanted = { isAnswered: true, neededAt: yield* SteadyTime.now, campaignId: plan.campaignId }
    const found = yield* openings.recorded(plan.organizationId, recording, wanted)
    says({ provider: "recording", model: found.recordingId })
    return found
  })
  return {
    speak: (text, aheadMillis, part) =>
      noted(
        Effect.suspend(() => speak(text, aheadMillis, part)),
        () => ({ ...unspoken, processor: callVoice.saying.provider })
      ),
    record: (recording) => noted(record(recording), () => ({ ...unplayed, processor: "recording" })),
    begun: (at) => {
      const open = voice()
      if (open !== undefined) noteFirstAudio(open, at)
      meter.agentHeard(at, open?.noted.saying ?? callVoice.saying)
    },
    heard: ({ from, text, until }) => {
      const open = voice()
      if (open === undefined) return
      note({ _tag: "Said", speaker: "assistant", text, at: open.epochOf(from), until: open.epochOf(until) })
    }
  }
}
