/**
 * The part of a model's text that may be spoken. Reasoning between tags is dropped, and text of whitespace alone is never passed on: it would
 * keep a call waiting for speech that never comes.
 */

const tagNames = ["think", "thinking", "thought", "reasoning"] as const
const openings = tagNames.map((name) => `<${name}>`)
const closings = tagNames.map((name) => `</${name}>`)

interface Found {
  readonly at: number
  readonly end: number
}

/** The first of the tags in the text, in any case. */
const firstOf = (text: string, tags: ReadonlyArray<string>): Found | undefined => {
  const lower = text.toLowerCase()
  const found = tags.flatMap((tag) => {
    const at = lower.indexOf(tag)
    return at < 0 ? [] : [{ at, end: at + tag.length }]
  })
  return found.toSorted((a, b) => a.at - b.at)[0]
}

/** How many characters at the end of the text may be the beginning of one of the tags. */
const pendingIn = (text: string, tags: ReadonlyArray<string>): number => {
  const from = text.lastIndexOf("<")
  const end = from < 0 ? "" : text.slice(from).toLowerCase()
  return end !== "" && tags.some((tag) => tag.startsWith(end)) ? end.length : 0
}

interface Speakable {
  /** The speech in the next piece of text. It is `""` or more than whitespace. */
  readonly push: (text: string) => string
  /** The speech that was held back because it could have become a tag. */
  readonly end: () => string
}

export const makeSpeakable = (startsThinking: boolean): Speakable => {
  let isThinking = startsThinking
  let held = ""
  /** Whitespace that precedes the next speech, so that words of two pieces do not run together. */
  let space = ""
  let hasSpoken = false

  const speech = (text: string): string => {
    const whole = hasSpoken ? space + text : (space + text).trimStart()
    if (whole.trim() === "") {
      space = whole
      return ""
    }
    hasSpoken = true
    space = ""
    return whole
  }

  const push = (text: string): string => {
    held += text
    let said = ""
    while (true) {
      // A closing tag without an opening one is not speech either.
      const tags = isThinking ? closings : [...openings, ...closings]
      const tag = firstOf(held, tags)
      if (tag === undefined) {
        const pending = pendingIn(held, tags)
        if (!isThinking) said += held.slice(0, held.length - pending)
        held = held.slice(held.length - pending)
        return speech(said)
      }
      if (!isThinking) said += held.slice(0, tag.at)
      isThinking = !isThinking && openings.includes(held.slice(tag.at, tag.end).toLowerCase())
      held = held.slice(tag.end)
    }
  }
  return { push, end: () => (isThinking ? "" : speech(held)) }
}
