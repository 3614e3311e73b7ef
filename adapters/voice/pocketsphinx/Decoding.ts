/**
 * Decodes one utterance step by step, so that others may go first. From the cepstra of a whole utterance, their mean is subtracted; from those of an
 * utterance that is still being spoken, the mean of what has been spoken so far, once that is enough.
 */
import { decode } from "#core/audio/Mulaw.ts"
import { makeCepstralMean } from "./CepstralMean.ts"
import type { Decoder, Hypothesis } from "./Sphinx.ts"
import { cepstrumSize, joined } from "./SphinxLibrary.ts"

type Searcher = Pick<Decoder, "end" | "frontEnd" | "search">

export interface Decoding {
  /** 8 kHz mu-law. */
  readonly hear: (audio: Uint8Array) => void
  /** The utterance is whole. */
  readonly close: () => void
  readonly isClosed: () => boolean
  /** Works for about 10 ms. Returns false if there was nothing to do. */
  readonly step: () => boolean
  /** Ends the utterance, whether it is finished or abandoned. The decoder is free afterwards. */
  readonly end: () => Hypothesis | undefined
}

/** 0.5 s, most of which is voice. The result depends on this number, but not on when the audio arrives. */
const enoughFrames = 50
const framesOfStep = 10

/** `decoder` has begun an utterance. `isWhole`: nothing is done before it is closed. */
export const makeDecoding = ({ end, frontEnd, search }: Searcher, isWhole: boolean): Decoding => {
  const mean = makeCepstralMean()
  const leastFrames = isWhole ? Number.POSITIVE_INFINITY : enoughFrames
  let isClosed = false
  let unheard: Array<Uint8Array> = []
  let isFlushed = false
  let cepstra: Float32Array = new Float32Array(0)
  let searched = 0
  /** The number of frames in the mean. */
  let meant = 0

  const framesBetween = (from: number, until: number) => cepstra.subarray(from * cepstrumSize, until * cepstrumSize)
  const listen = (): void => {
    const heard = unheard.map((audio) => frontEnd.push(decode(audio)))
    unheard = []
    const isOver = isClosed && !isFlushed
    isFlushed = isClosed
    const rest = isOver ? [frontEnd.flush()] : []
    if (heard.length + rest.length > 0) cepstra = joined([cepstra, ...heard, ...rest])
  }
  const step = () => {
    listen()
    const frames = cepstra.length / cepstrumSize
    const until = isClosed ? Math.min(frames, searched + framesOfStep) : searched + framesOfStep
    // One frame is kept until the end, because the decoder must be told which frame is the last.
    const isReady = isClosed ? until > searched : frames >= leastFrames && frames > until
    if (!isReady) return false
    const meantUntil = Math.min(frames, Math.max(leastFrames, until))
    mean.add(framesBetween(meant, meantUntil))
    meant = meantUntil
    search(mean.removedFrom(framesBetween(searched, until)), { isFirst: searched === 0, isLast: isClosed && until === frames })
    searched = until
    return true
  }
  return {
    hear: (audio) => void unheard.push(audio),
    close: () => {
      isClosed = true
    },
    isClosed: () => isClosed,
    step,
    end
  }
}
