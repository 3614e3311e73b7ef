/**
 * Answerers: people who say a word or two and wait, and machines that greet and beep. They are split into two halves: parameters are tuned on
 * one, and results are reported on the other. No recording or text is in both, and the noise comes from the same half.
 */
import { createHash } from "node:crypto"
import { encode, sampleRate } from "#core/audio/Mulaw.ts"
import { listOf } from "./hearing/answers.ts"
import { asterisksBeep, type Clip, fliteClips, promptVoices, recordedClips } from "./prompts.ts"
import { after, levelOf } from "./sound.ts"

export type Half = "tuning" | "held out"
/** `long person` speaks for longer than most people who answer a call, but neither as long as a machine nor with a beep. */
export type Kind = "person" | "long person" | "machine"

export interface Answerer {
  readonly kind: Kind
  /** The group that it is reported under. */
  readonly group: string
  readonly name: string
  readonly half: Half
  readonly sound: Int16Array
  /** When the beep starts, in milliseconds. */
  readonly beepAt?: number
}

const shortestSeconds = 0.2
const longestHelloSeconds = 2.2
const longestPersonSeconds = 3.5
const shortestGreetingSeconds = 4

const hashOf = (text: string): number => createHash("sha1").update(text).digest().readUInt32LE(0)
/** A generator of random numbers from 0 to 1, seeded by the text. */
const chanceOf = (text: string): (() => number) => {
  let seed = hashOf(text)
  return () => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 2 ** 32
}

/** Voicemail greetings are composed of several prompts, so all prompts of a voice are in the same half. */
const halfOf = ({ name, voice }: Pick<Clip, "name" | "voice">): Half => {
  const isOdd = name.startsWith("vm-")
    ? promptVoices().indexOf(voice) % 2 === 1
    : hashOf(voice.startsWith("flite") ? name : voice + name) % 2 === 1
  return isOdd ? "held out" : "tuning"
}

const silenceOf = (seconds: number) => new Int16Array(Math.round(seconds * sampleRate))
const joined = (...sounds: ReadonlyArray<Int16Array>): Int16Array => Int16Array.from(after(...sounds))
const secondsOf = (sound: Int16Array) => sound.length / sampleRate

/** A tone with soft edges, so that it does not click. */
const tone = (hz: number, seconds: number, amplitude = 7000): Int16Array =>
  Int16Array.from({ length: seconds * sampleRate }, (_, at) => {
    const edge = Math.min(1, at / 40, (seconds * sampleRate - at) / 40)
    return edge * amplitude * Math.sin((2 * Math.PI * hz * at) / sampleRate)
  })

/** Beeps with the pitch and length of network voicemails and home answering machines, and the tones before a network announcement. */
const makeBeeps = (): ReadonlyArray<Int16Array> => [
  asterisksBeep(),
  tone(1000, 0.5),
  tone(1000, 0.25, 2500),
  tone(1400, 0.4),
  tone(440, 0.5),
  tone(850, 0.35),
  tone(620, 0.3, 4000),
  tone(2000, 0.3),
  tone(1100, 0.5),
  joined(tone(950, 0.33), tone(1400, 0.33), tone(1800, 0.33))
]
let madeBeeps: ReturnType<typeof makeBeeps> | undefined
/** Created on first use, because the first one is read from the prompts, which may not be installed. */
const beeps = () => (madeBeeps ??= makeBeeps())

const hellos = listOf(`
  Hello? | Hello world. | Yes? | Hi. | Good morning. | Who is this? | Speaking. | Smith. | Hello, Anna speaking. | Mary Miller here. |
  Yeah, hello? | Hello? Hello? | Hello, who is calling? | This is John. | Doctor Brown's office. | Oh, hello there. | Jones residence. |
  What do you want? | Hey, how are you? | Good afternoon, reception.`)
const greetings = [
  "Hi, this is Dave. I can't take your call right now. Leave me a message and I will call you back.",
  "You have reached the voice mail of five five five, zero one four two. Please leave a message after the tone.",
  "Your call has been forwarded to an automatic voice message system. The person you called is not available.",
  "The customer you are calling is unavailable. At the tone, please record your message. When you have finished, you may hang up.",
  "Hello. You have reached the Millers. Nobody is home at the moment. Please speak after the beep.",
  "Welcome to the voice mailbox of Anna Jones. Please leave your name and your number, and I will get back to you soon.",
  "Sorry, I missed your call. Leave your name, your number and the reason of your call, and I will call back as soon as I can.",
  "Thank you for calling the clinic at the old market. Our office is closed. Our hours are Monday to Friday, from nine to five.",
  "The mailbox of the subscriber you have dialed is full. Please try again later. Good bye.",
  "This is the answering machine of John and Mary. We are out with the dog. You know what to do after the beep.",
  "Hey, it's Tom, I'm either on the other line or away from my phone, so please leave me a message.",
  "Please leave your message for the following person. Susan Brown. After the tone.",
  "We are sorry, the person you are trying to reach has a voice mailbox that has not been set up yet. Good bye.",
  "You've reached Pete's cell phone. I can't come to the phone because I am driving. Text me or leave a message."
]
const shortGreetings = listOf(`
  Leave a message. | You know what to do. | After the beep, please. | Pete here, leave a message. | No one is home.`)

/** Seconds of silence before the beep, as with real recorders. */
const beforeBeep = (name: string) => 0.15 + 0.55 * chanceOf(`${name} pause`)()

const machineOf = (group: string, half: Half, name: string, greeting: Int16Array): Answerer => {
  const kinds = beeps()
  const said = greeting.length === 0 ? silenceOf(0) : joined(greeting, silenceOf(beforeBeep(name)))
  const beep = kinds[hashOf(`${name} beep`) % kinds.length] ?? silenceOf(0)
  return { kind: "machine", group, name, half, sound: joined(said, beep), beepAt: 1000 * secondsOf(said) }
}

const ofClip = (clip: Clip): Answerer | undefined => {
  const seconds = secondsOf(clip.samples)
  const half = halfOf(clip)
  const name = `${clip.voice} ${clip.name}`
  if (seconds < shortestSeconds) return undefined
  if (seconds <= longestHelloSeconds) return { kind: "person", group: clip.voice, name, half, sound: clip.samples }
  if (seconds <= longestPersonSeconds) return { kind: "long person", group: clip.voice, name, half, sound: clip.samples }
  if (seconds < shortestGreetingSeconds || clip.name.startsWith("vm-")) return undefined
  return machineOf(`greeting, ${clip.voice}`, half, name, clip.samples)
}

/**
 * The greeting of Asterisk's voicemail: "the person at extension", four digits, "is unavailable", "please leave your message", or only the
 * last part.
 */
const voicemailOf = function* (voice: string, clips: ReadonlyMap<string, Int16Array>): Generator<Answerer> {
  const half = halfOf({ name: "vm-intro", voice })
  const intro = clips.get("vm-intro")
  const person = clips.get("vm-theperson")
  const digits = [...clips.keys()].filter((name) => /^digits\/\d$/.test(name) && halfOf({ name, voice }) === half)
  if (intro === undefined || digits.length === 0) return
  yield machineOf("Asterisk's voicemail", half, `${voice} intro`, intro)
  for (const why of ["vm-isunavail", "vm-isonphone"]) {
    const reason = clips.get(why)
    if (person === undefined || reason === undefined) continue
    for (let extension = 0; extension < 3; extension++) {
      const name = `${voice} ${why} ${extension}`
      const chance = chanceOf(name)
      const dialed = [0, 1, 2, 3].map(() => clips.get(digits[Math.floor(chance() * digits.length)] ?? "") ?? silenceOf(0))
      yield machineOf("Asterisk's voicemail", half, name, joined(person, ...dialed, reason, intro))
    }
  }
}

const spoken = function* (half: Half): Generator<Answerer> {
  const clipsOf = (texts: ReadonlyArray<string>) => fliteClips(texts.filter((name) => halfOf({ name, voice: "flite" }) === half))
  for (const clip of clipsOf(hellos)) {
    const person = ofClip(clip)
    if (person !== undefined) yield person
  }
  for (const clip of clipsOf(greetings)) yield machineOf("greeting, flite", half, `${clip.voice} ${clip.name}`, clip.samples)
  for (const clip of clipsOf(shortGreetings)) yield machineOf("short greeting and beep", half, `${clip.voice} ${clip.name}`, clip.samples)
}

/** All answerers of a half, one at a time, because all of them together take hundreds of megabytes. */
export const answerers = function* (half: Half): Generator<Answerer> {
  const voicemails = new Map<string, Map<string, Int16Array>>()
  for (const clip of recordedClips()) {
    if (/^(vm-(intro|theperson|isunavail|isonphone)|digits\/\d)$/.test(clip.name))
      voicemails.set(clip.voice, (voicemails.get(clip.voice) ?? new Map<string, Int16Array>()).set(clip.name, clip.samples))
    const answerer = ofClip(clip)
    if (answerer?.half === half) yield answerer
  }
  for (const [voice, clips] of voicemails) if (halfOf({ name: "vm-intro", voice }) === half) yield* voicemailOf(voice, clips)
  yield* spoken(half)
  for (let which = 0; which < beeps().length; which++) yield machineOf("beep alone", half, `${half} ${which}`, silenceOf(0))
}

/** Background voices: several long prompts of the half at once, for as long as a line lasts. */
export const babbleOf = (half: Half): Int16Array => {
  const behind: Array<Clip> = []
  for (const clip of recordedClips()) {
    if (halfOf(clip) === half && secondsOf(clip.samples) >= shortestGreetingSeconds) behind.push(clip)
    if (behind.length === 6) break
  }
  return Int16Array.from({ length: 60 * sampleRate }, (_, at) =>
    behind.reduce((sum, { samples }, which) => sum + (samples[(at + which * 977) % samples.length] ?? 0) / 3, 0)
  )
}

export const lines = ["quiet", "hiss", "hum", "street", "voices"] as const
export type Line = (typeof lines)[number]
/** How far the noise is below the voice. On a quiet line there is almost none. */
const noiseDb: Readonly<Record<Line, number>> = { quiet: 55, hiss: 15, hum: 18, street: 15, voices: 18 }

/** Noise with a root mean square of about 1. */
const noiseOf = (line: Line, chance: () => number, behind: Int16Array): ((at: number) => number) => {
  const white = () => (2 * chance() - 1) * Math.sqrt(3)
  const hertz = (hz: number, at: number) => Math.SQRT2 * Math.sin((2 * Math.PI * hz * at) / sampleRate)
  let slow = 0
  switch (line) {
    case "quiet":
    case "hiss":
      return white
    case "hum":
      return (at) => 0.8 * hertz(50, at) + 0.5 * hertz(150, at) + 0.3 * white()
    case "street":
      // Rumbling that swells and fades.
      return (at) => (slow = 0.9 * slow + 0.4 * white()) * (1 + 0.5 * hertz(0.4, at))
    case "voices": {
      const level = Math.max(1, levelOf(behind))
      return (at) => (behind[at % Math.max(1, behind.length)] ?? 0) / level
    }
  }
}

export interface Rendition {
  /** What is heard from the answer on. */
  readonly heard: Uint8Array
  /** When the answerer starts to speak, in milliseconds. */
  readonly from: number
}

const leadSeconds = 0.1
const leadSpread = 0.5
const tailSeconds = 2.5

/** `behind` is what other people in the room say, for the line `voices`. */
export const rendition = ({ name, sound }: Answerer, line: Line, behind: Int16Array): Rendition => {
  const chance = chanceOf(`${name} ${line}`)
  const lead = Math.round((leadSeconds + leadSpread * chance()) * sampleRate)
  const gain = [0.35, 0.7, 1][Math.floor(3 * chance())] ?? 1
  const noise = noiseOf(line, chance, behind)
  const level = gain * levelOf(sound) * 10 ** (-noiseDb[line] / 20)
  const samples = Int16Array.from({ length: lead + sound.length + tailSeconds * sampleRate }, (_, at) =>
    Math.max(-32_768, Math.min(32_767, Math.round(gain * (sound[at - lead] ?? 0) + level * noise(at))))
  )
  return { heard: encode(samples), from: (1000 * lead) / sampleRate }
}
