/** What is made of a transcription: what the callee has said, or that this could not be told. */
import type { Transcription } from "./transcriptionWorker.ts"
import { uniform } from "./Writing.ts"

export interface Reading {
  readonly text: string
  /** It is one of the expected answers. */
  readonly isAnswer: boolean
  /** Somebody spoke, but it could not be told what they said. */
  readonly isUnclear: boolean
}

/** Nobody speaks faster for long. Moonshine, for which audio is always speech, makes longer texts of noise. */
const tokensPerSecond = 6
/** Short words and marks are pieces of their own. */
const spareTokens = 4

const isInvented = ({ tokens }: Transcription, voicedMillis: number): boolean =>
  tokens > spareTokens + (tokensPerSecond * voicedMillis) / 1000

/** How different the sounds of an expected answer may be: less for longer texts, among which some always sound alike. */
const farthest = (text: string): number => (text.length <= 16 ? 0.3 : 0.2)

export const readingOf = (transcription: Transcription, voicedMillis: number): Reading => {
  const text = uniform(transcription.text)
  if (text === "" || isInvented(transcription, voicedMillis)) return { text: "", isAnswer: false, isUnclear: true }
  const { nearest } = transcription
  const isAnswer = nearest !== undefined && nearest.distance <= farthest(text)
  // A text with the same sounds is left as it is written.
  return { text: isAnswer && nearest.distance > 0 ? nearest.text : text, isAnswer, isUnclear: false }
}
