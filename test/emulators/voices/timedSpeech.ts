/**
 * Speech with the times of what is spoken, as ElevenLabs and Cartesia send it: https://elevenlabs.io/docs/api-reference/text-to-speech/stream-with-timestamps
 * and https://docs.cartesia.ai/api-reference/tts/sse.
 */

/** A text takes 60 ms for each character, and a dash two seconds. */
const secondsOf = (text: string): number => Array.from(text).reduce((sum, character) => sum + (character === "—" ? 2 : 0.06), 0)

export const speechOf = (text: string, bytesPerSecond: number): Uint8Array =>
  Uint8Array.from({ length: Math.round(secondsOf(text) * bytesPerSecond) }, (_, at) => (at * 31 + text.length) % 251)

/** In seconds from the start of the speech. */
interface Timed {
  readonly said: string
  readonly start: number
  readonly end: number
}

/** Part of a text: its characters, the words that end in it, and its speech in base64. */
interface TimedPart {
  readonly characters: ReadonlyArray<Timed>
  readonly words: ReadonlyArray<Timed>
  readonly audio: string
}

const timedIn = (text: string, what: RegExp): ReadonlyArray<Timed> =>
  [...text.matchAll(what)].map(({ 0: said, index }) => {
    const start = secondsOf(text.slice(0, index))
    return { said, start, end: start + secondsOf(said) }
  })

/** The halves of a text, which cut a word if they can. */
export const halvesOf = (text: string): readonly [TimedPart, TimedPart] => {
  const speech = speechOf(text, 8000)
  const middle = secondsOf(text.slice(0, text.length >> 1))
  const [characters, words] = [timedIn(text, /./gsu), timedIn(text, /\S+/g)]
  const part = (from: number, until: number): TimedPart => ({
    characters: characters.filter(({ end }) => end > from && end <= until),
    words: words.filter(({ end }) => end > from && end <= until),
    audio: Buffer.from(speech.subarray(from * 8000, until * 8000)).toString("base64")
  })
  return [part(0, middle), part(middle, Number.POSITIVE_INFINITY)]
}

/** `alignment`: null if the service knows none. */
export const elevenlabsLine = ({ audio, characters }: TimedPart, alignment: object | null = alignmentOf(characters)): string =>
  `${JSON.stringify({ audio_base64: audio, alignment, normalized_alignment: alignment })}\n`

const alignmentOf = (characters: ReadonlyArray<Timed>): object => ({
  characters: characters.map(({ said }) => said),
  character_start_times_seconds: characters.map(({ start }) => start),
  character_end_times_seconds: characters.map(({ end }) => end)
})

export const cartesiaEvent = (type: string, members: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, status_code: 206, done: type === "done", ...members })}\n\n`

export const cartesiaEvents = ({ audio, words }: TimedPart): string =>
  cartesiaEvent("chunk", { data: audio, step_time: 12 }) +
  cartesiaEvent("timestamps", {
    word_timestamps: { words: words.map(({ said }) => said), start: words.map(({ start }) => start), end: words.map(({ end }) => end) }
  })
