/**
 * Finds the audio in a carrier's `media` message without parsing all of it, because each call has 50 of them per second. It reads the JSON from
 * left to right, with members in any order and any whitespace. Whatever it is not sure about is left to `JSON.parse`: other events, escapes,
 * duplicate members or members that hold objects, and anything malformed.
 */

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BACKSLASH = 0x5c
const OPEN = 0x7b
const CLOSE = 0x7d
const ZERO = 0x30
const NINE = 0x39

const wordOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const words = {
  event: wordOf("event"),
  media: wordOf("media"),
  payload: wordOf("payload"),
  chunk: wordOf("chunk"),
  track: wordOf("track"),
  inbound: wordOf("inbound")
}

/** Outside strings, JSON allows only these characters in numbers and in `true`, `false` and `null`. */
const isPlain = new Uint8Array(0x80)
for (const character of "+-.0123456789Eaeflnrstu") isPlain[character.charCodeAt(0)] = 1

export class MediaMessage {
  /** Where the payload is, without its quotes. */
  payloadFrom = 0
  payloadTo = 0
  /** The number of this piece of audio; -1 if there is none. */
  chunk = -1
  /** The audio comes from the callee; false: it was sent to them. */
  isInbound = true
  #text: Uint8Array = new Uint8Array(0)
  #at = 0
  /** The start of the latest string or plain value. */
  #from = 0
  #to = 0

  /** Whether this is a `media` message for certain. Then the fields above are those of this message, until the next one is read. */
  read(text: Uint8Array): boolean {
    this.#text = text
    this.#at = 0
    this.payloadTo = -1
    this.chunk = -1
    this.isInbound = true
    let isMedia = false
    if (!this.#takes(OPEN)) return false
    do {
      if (!this.#name()) return false
      if (this.#is(words.event)) {
        if (isMedia || !this.#takes(COLON) || !this.#string() || !this.#is(words.media)) return false
        isMedia = true
      } else if (this.#is(words.media)) {
        if (this.payloadTo >= 0 || !this.#takes(COLON) || !this.#audio()) return false
      } else if (!this.#takes(COLON) || !this.#scalar()) return false
    } while (this.#takes(COMMA))
    return this.#takes(CLOSE) && this.#isAtEnd() && isMedia && this.payloadTo >= 0
  }

  /** Reads the object with the payload. */
  #audio(): boolean {
    let hasTrack = false
    if (!this.#takes(OPEN)) return false
    do {
      if (!this.#name()) return false
      if (this.#is(words.payload)) {
        if (this.payloadTo >= 0 || !this.#takes(COLON) || !this.#string()) return false
        this.payloadFrom = this.#from
        this.payloadTo = this.#to
      } else if (this.#is(words.chunk)) {
        if (this.chunk >= 0 || !this.#takes(COLON) || !this.#scalar()) return false
        this.chunk = this.#number()
        if (this.chunk < 0) return false
      } else if (this.#is(words.track)) {
        if (hasTrack || !this.#takes(COLON) || !this.#string()) return false
        hasTrack = true
        this.isInbound = this.#begins(words.inbound)
      } else if (!this.#takes(COLON) || !this.#scalar()) return false
    } while (this.#takes(COMMA))
    return this.#takes(CLOSE) && this.payloadTo >= 0
  }

  #skipSpace(): void {
    const text = this.#text
    let code = text[this.#at]
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) code = text[++this.#at]
  }

  #takes(code: number): boolean {
    this.#skipSpace()
    if (this.#text[this.#at] !== code) return false
    this.#at++
    return true
  }

  #isAtEnd(): boolean {
    this.#skipSpace()
    return this.#at === this.#text.length
  }

  /** Reads the name of a member. */
  #name(): boolean {
    return this.#string()
  }

  #string(): boolean {
    if (!this.#takes(QUOTE)) return false
    const text = this.#text
    let at = this.#at
    this.#from = at
    for (;;) {
      const code = text[at]
      if (code === QUOTE) break
      if (code === undefined || code === BACKSLASH || code < 0x20) return false
      at++
    }
    this.#to = at
    this.#at = at + 1
    return true
  }

  #scalar(): boolean {
    this.#skipSpace()
    const text = this.#text
    if (text[this.#at] === QUOTE) return this.#string()
    let at = this.#at
    while (isPlain[text[at] ?? 0] === 1) at++
    this.#from = this.#at
    this.#to = at
    this.#at = at
    return this.#from < at
  }

  /** The latest value as a whole number; -1 for anything else. */
  #number(): number {
    let value = 0
    if (this.#to === this.#from || this.#to - this.#from > 12) return -1
    for (let at = this.#from; at < this.#to; at++) {
      const code = this.#text[at] ?? 0
      if (code < ZERO || code > NINE) return -1
      value = value * 10 + code - ZERO
    }
    return value
  }

  #is(word: Uint8Array): boolean {
    return this.#to - this.#from === word.length && this.#begins(word)
  }

  #begins(word: Uint8Array): boolean {
    if (this.#to - this.#from < word.length) return false
    for (let index = 0; index < word.length; index++) if (this.#text[this.#from + index] !== word[index]) return false
    return true
  }
}
