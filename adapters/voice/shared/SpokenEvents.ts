/** Speech that a service sends as JSON events, with the times of its words. */
import { makeParser } from "effect/encoding/Sse"
import { isObject } from "#core/Json.ts"
import type { ModelError } from "#core/model/LanguageModel.ts"
import type { SpeechPart, SpokenWord } from "#core/model/TextToSpeech.ts"
import { parse } from "#adapters/shared/Json.ts"
import { broken, tooLarge } from "./modelErrors.ts"

interface SpokenEvent {
  /** The next piece of the speech, in base64. */
  readonly audio?: string | undefined
  readonly words?: ReadonlyArray<SpokenWord>
  /** The service has sent an error instead. */
  readonly error?: ModelError
}

/** Reads the events of one reply. */
export interface SpokenEvents {
  /** `lines`: an event is a line. `sse`: it is the data of a server-sent event. */
  readonly framing: "lines" | "sse"
  /** What is in the next event. `sent`: the body of the request and the key, which errors must not quote. */
  readonly read: (event: unknown, sent: string) => SpokenEvent
  /** The reply has ended. Undefined if it has ended too early, and otherwise the words that are still to be told. */
  readonly end: () => ReadonlyArray<SpokenWord> | undefined
}

interface Listener {
  readonly part: (part: SpeechPart) => void
  /** Only the first call counts, and no part after it. */
  readonly done: (error?: ModelError) => void
}

/** Five minutes of speech for the phone in one event. */
const MOST_EVENT = 4 * 1024 * 1024

/** Returns false if an event is too large. */
type Feed = (text: string) => boolean

const linesTo = (take: (line: string) => void): Feed => {
  let rest = ""
  return (text) => {
    const [first = "", ...others] = text.split("\n")
    rest += first
    for (const next of others) {
      take(rest)
      rest = next
    }
    return rest.length <= MOST_EVENT
  }
}

const eventsTo = (take: (data: string) => void): Feed => {
  const parser = makeParser((event) => (event._tag === "Event" ? take(event.data) : undefined), { maxEventSize: MOST_EVENT })
  return (text) => parser.feed(text) === undefined
}

/** `push` is given the bytes of the reply, cut anywhere. */
export const eventReader = (events: SpokenEvents, sent: string, { done, part }: Listener) => {
  const decoder = new TextDecoder()
  const take = (data: string): void => {
    if (data.trim() === "") return
    const event = parse(data)
    if (!isObject(event)) return done(broken("a piece of the speech is not JSON"))
    const { audio = "", error, words = [] } = events.read(event, sent)
    for (const word of words) part(word)
    if (audio !== "") part(Buffer.from(audio, "base64"))
    if (error !== undefined) done(error)
  }
  const feed = events.framing === "sse" ? eventsTo(take) : linesTo(take)
  return {
    push: (bytes: Uint8Array): void => {
      if (!feed(decoder.decode(bytes, { stream: true }))) done(tooLarge("characters in one piece"))
    },
    end: (): void => {
      // The last event may lack its end.
      feed("\n\n")
      const words = events.end()
      if (words === undefined) return done(broken("the speech ended early"))
      for (const word of words) part(word)
      done()
    }
  }
}
