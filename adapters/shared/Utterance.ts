/**
 * What a callee has said that has not been understood yet: their voice, with a little of the silence around it. With seconds of silence, every
 * utterance would seem to match a grammar, and other recognizers find nothing in it, or what was not said. A pause in the middle does not end it: "no"
 * and "thank you" may be one sentence.
 */
import { makeEnergyGate } from "#core/audio/EnergyGate.ts"
import { encodeSample, frameMillis, frameSize } from "#core/audio/Mulaw.ts"
import { levelOf } from "#core/audio/PcmFrame.ts"

/** The callee's audio from the first to the last voice, in 8 kHz mu-law; its times are those of the session. */
export interface Heard {
  readonly audio: Uint8Array
  readonly fromMillis: number
  readonly untilMillis: number
  /** When the first voice came since something was last taken. */
  readonly newMillis: number
  /** How much louder the voice is than the line's noise, in decibels. */
  readonly overNoise: number
  /** How much of it is voice. */
  readonly voicedMillis: number
  readonly span: Span
}

/** Frames since the session began. */
export interface Span {
  readonly from: number
  readonly until: number
}

export interface Utterance {
  readonly write: (samples: Int16Array) => void
  /** The span of an utterance that is still growing. Undefined unless somebody seems to be saying something that has not been taken yet. */
  readonly saying: () => Span | undefined
  /** How long that is; 0 if nobody seems to be saying anything. */
  readonly sayingMillis: () => number
  /** Only the last seconds are kept. */
  readonly audio: (span: Span) => Uint8Array
  /** Takes what was said; undefined if there was no voice since this was last called. */
  readonly heard: () => Heard | undefined
  /** Forgets this audio, because it was understood. What was said since then is kept, even if it has been taken. */
  readonly forget: (heard: Heard) => void
}

const leadFrames = 160 / frameMillis
const tailFrames = 160 / frameMillis
/** Longer pauses separate utterances. */
const longestPauseFrames = 1500 / frameMillis
/** Less voice may be any noise, and after a longer pause nobody seems to be speaking any more. */
const leastVoicedFrames = 160 / frameMillis
const longestBreathFrames = 500 / frameMillis

/** Of a ring that holds these frames. */
const copyOf = (ring: Uint8Array, { from, until }: Span): Uint8Array => {
  const audio = new Uint8Array((until - from) * frameSize)
  for (let frame = from; frame < until; frame++) {
    const at = (frame * frameSize) % ring.length
    audio.set(ring.subarray(at, at + frameSize), (frame - from) * frameSize)
  }
  return audio
}

/** `keptMillis`: how much audio is kept, in whole frames. */
export const makeUtterance = (keptMillis = 10_000): Utterance => {
  const longestFrames = keptMillis / frameMillis
  const gate = makeEnergyGate()
  /** Calls that are not answered need none. */
  let ring = new Uint8Array(0)
  /** Frames since the session began: now, at the first voice that is kept, and at the last one; undefined without voice. */
  let now = 0
  let first: number | undefined
  let last = 0
  /** The levels of the frames with voice, since the first that is kept. */
  let voiced = 0
  let loudness = 0
  /** The first voice since the utterance was last taken. */
  let newest: number | undefined
  /** The end of what was taken last. */
  let taken = 0
  /** Undefined without voice. */
  const span = (): Span | undefined =>
    first === undefined
      ? undefined
      : { from: Math.max(0, now - longestFrames, first - leadFrames), until: Math.min(now, last + 1 + tailFrames) }
  const isSaying = (): boolean => newest !== undefined && voiced >= leastVoicedFrames && now - last <= longestBreathFrames
  const copy = (of: Span): Uint8Array => copyOf(ring, of)
  return {
    write: (samples) => {
      if (ring.length === 0) ring = new Uint8Array(longestFrames * frameSize)
      const at = (now % longestFrames) * frameSize
      for (let index = 0; index < frameSize; index++) ring[at + index] = encodeSample(samples[index] ?? 0)
      const level = levelOf(samples)
      if (gate.push(level)) {
        if (first === undefined || now - last > longestPauseFrames) {
          first = now
          voiced = loudness = 0
        }
        voiced++
        loudness += level
        newest ??= now
        last = now
      }
      now++
    },
    saying: () => (isSaying() ? span() : undefined),
    sayingMillis: () => (isSaying() && first !== undefined ? (last + 1 - first) * frameMillis : 0),
    audio: copy,
    heard: () => {
      const whole = span()
      if (whole === undefined || first === undefined || newest === undefined) return undefined
      const newMillis = newest * frameMillis
      newest = undefined
      taken = whole.until
      return {
        span: whole,
        audio: copy(whole),
        fromMillis: Math.max(whole.from, first) * frameMillis,
        untilMillis: (last + 1) * frameMillis,
        newMillis,
        voicedMillis: voiced * frameMillis,
        overNoise: 20 * Math.log10(loudness / Math.max(1, voiced) / Math.max(1, gate.noise()))
      }
    },
    forget: ({ span: { until } }) => {
      if (until >= taken) first = newest
      else if (first !== undefined && first < until) first = until
    }
  }
}
