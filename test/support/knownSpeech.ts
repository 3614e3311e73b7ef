/**
 * A recognizer that knows the audio of everything that may be said to it, frame by frame, and so makes no mistakes: what is tested is what the
 * engine makes of turns and texts. Unlike `scriptedRecognizer` it need not be told what is being said, so it also works in an engine in
 * another process.
 */
import { Effect } from "effect"
import { createHash } from "node:crypto"
import type { RecognizerEvent, SpeechToText } from "#core/model/SpeechToText.ts"
import { heardOf, type SpokenUtterance } from "./utterances.ts"

/** Part of an utterance, and the index of one of its frames. */
type Place = readonly [text: string, at: number]
/** Maps the hash of three consecutive frames to their place. Plain JSON, so that an engine in another process can read it. */
export type KnownSpeech = Readonly<Record<string, Place>>

const inRow = 3
const frameMillis = 20
const hashOf = (frames: ReadonlyArray<Int16Array>): string => {
  const hash = createHash("sha1")
  for (const { buffer, byteLength, byteOffset } of frames) hash.update(new Uint8Array(buffer, byteOffset, byteLength))
  return hash.digest("base64url")
}

export const knownSpeechOf = (utterances: ReadonlyArray<SpokenUtterance>): KnownSpeech => {
  const known = new Map<string, Place | undefined>()
  const parts = new Map(utterances.flatMap((utterance) => utterance.parts.map((part) => [part.text, part.frames] as const)))
  for (const [text, frames] of parts) {
    const heard = frames.map(heardOf)
    for (let at = 0; at + inRow <= heard.length; at++) {
      const hash = hashOf(heard.slice(at, at + inRow))
      // A sound that occurs in two utterances identifies neither.
      known.set(hash, known.has(hash) ? undefined : [text, at])
    }
  }
  const distinct = [...known].flatMap(([hash, place]) => (place === undefined ? [] : [[hash, place] as const]))
  const lost = [...parts.keys()].find((text) => !distinct.some(([, [of]]) => of === text))
  if (lost !== undefined) throw new Error(`nothing tells "${lost}" from the other texts`)
  return Object.fromEntries(distinct)
}

/** Takes one frame after the other, and returns the place of the last three. Undefined if they are unknown, or in several parts. */
export const placesIn = (known: KnownSpeech): ((samples: Int16Array) => Place | undefined) => {
  const last: Array<Int16Array> = []
  return (samples) => {
    last.push(samples.slice())
    if (last.length > inRow) last.shift()
    return last.length === inRow ? known[hashOf(last)] : undefined
  }
}

/** Reports each part that was heard since the last answer once, when most of it has been heard. */
class Ear {
  readonly #placeOf: ReturnType<typeof placesIn>
  #heard: Array<string> = []
  #told: Place | undefined
  #from: number | undefined
  #until = 0
  #millis = 0

  constructor(known: KnownSpeech) {
    this.#placeOf = placesIn(known)
  }

  write(samples: Int16Array): void {
    this.#millis += frameMillis
    const place = this.#placeOf(samples)
    if (place === undefined) return
    const isSame = this.#told?.[0] === place[0] && this.#told[1] < place[1]
    if (!isSame) this.#heard.push(place[0])
    this.#told = place
    this.#from ??= this.#millis - inRow * frameMillis
    this.#until = this.#millis
  }

  partial(): string {
    return this.#heard.join(" ")
  }

  finish(): { readonly text: string; readonly fromMillis: number; readonly untilMillis: number } {
    const said = {
      text: this.partial(),
      fromMillis: this.#from ?? this.#millis,
      untilMillis: this.#from === undefined ? this.#millis : this.#until
    }
    this.#heard = []
    this.#from = undefined
    return said
  }
}

export const knownSpeech = (known: KnownSpeech): SpeechToText => ({
  provider: "known_speech",
  model: "exact",
  ownsTurns: false,
  open: (_hints, emit: (event: RecognizerEvent) => void) =>
    Effect.sync(() => {
      const ear = new Ear(known)
      let told = ""
      return {
        write: (samples) => {
          ear.write(samples)
          const text = ear.partial()
          if (text === told) return
          told = text
          emit({ _tag: "Partial", text })
        },
        finalize: () => {
          told = ""
          emit({ _tag: "Final", ...ear.finish(), isForced: true, isAnswer: false, confidence: 1 })
        },
        hint: () => {}
      }
    })
})
