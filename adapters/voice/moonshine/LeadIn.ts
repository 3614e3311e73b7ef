/**
 * A lone word has no context, and Moonshine then often hears another word, or nothing at all. A spoken sentence in front of it, which such a word would
 * complete, gives it one; its words are cut off the text again.
 */
import { decode, encode } from "#core/audio/Mulaw.ts"
import type { LeadIn } from "./TranscriptionModel.ts"

/** With other sentences, and in other voices than Flite's `slt`, fewer lone words are understood. The figures are in `test/bench/README.md`. */
export const leadInText = "Number five. The next one is"

const audible = 300

/** `speech` is 8 kHz mu-law. */
export const leadInOf = (speech: Uint8Array): LeadIn => {
  const samples = decode(speech)
  const isAudible = (sample: number) => Math.abs(sample) > audible
  const voice = samples.slice(Math.max(0, samples.findIndex(isAudible)), samples.findLastIndex(isAudible) + 1)
  return { audio: Buffer.from(encode(voice)).toString("base64"), text: leadInText }
}

/** Silence, in samples at 8 kHz: before the lead-in, between it and the utterance, and at the end. More of it makes the model stop too early. */
const before = 800
const between = 960
const behind = 1600

/** `lead` and `said` are PCM16 at 8 kHz. */
export const ledIn = (lead: Int16Array, said: Int16Array): Int16Array => {
  const all = new Int16Array(before + lead.length + between + said.length + behind)
  all.set(lead, before)
  all.set(said, before + lead.length + between)
  return all
}

/** The words of a text, which are the same in any spelling that the model may choose for a lead-in. */
const wordsOf = (text: string): ReadonlyArray<string> =>
  text
    .toLowerCase()
    .replaceAll(/\bokay\b/g, "ok")
    .match(/[\p{L}\d']+/gu) ?? []

/** What follows the lead-in; undefined if the text does not begin with it. */
export const withoutLeadIn = (text: string, { text: lead }: Pick<LeadIn, "text">): string | undefined => {
  const words = wordsOf(lead)
  let left = text
  for (const word of words) {
    const [whole, first] = /^[^\p{L}\d']*([\p{L}\d']+)/u.exec(left) ?? ["", ""]
    if (wordsOf(first)[0] !== word) return undefined
    left = left.slice(whole.length)
  }
  return left.replace(/^[^\p{L}\d]+/u, "")
}
