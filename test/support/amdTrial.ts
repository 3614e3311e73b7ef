/** Runs answering-machine detection on recorded and synthesized answerers. */
import { makeAmd } from "#runtime/voice/Amd.ts"
import { frameMillis, frameSize } from "#core/audio/Mulaw.ts"
import { pcm } from "./sound.ts"
import { type Answerer, answerers, babbleOf, type Half, type Line, type Rendition, rendition } from "./answerers.ts"

export interface Judged {
  readonly answerer: Answerer
  readonly line: Line
  readonly verdict: "human" | "machine" | "unknown"
  /** Milliseconds from the answer to the verdict. */
  readonly millis: number
}

const framesOf = function* (heard: Uint8Array) {
  for (let at = 0; at + frameSize <= heard.length; at += frameSize) yield heard.subarray(at, at + frameSize)
}

export const verdictOn = ({ heard }: Rendition): Pick<Judged, "millis" | "verdict"> => {
  const amd = makeAmd()
  let millis = 0
  for (const frame of framesOf(heard)) {
    const verdict = amd.push(pcm(frame), millis)
    millis += frameMillis
    if (verdict !== undefined) return { verdict, millis }
  }
  return { verdict: "unknown", millis }
}

export const trial = function* (
  half: Half,
  isHeard: (answerer: Answerer, line: Line) => boolean,
  lines: ReadonlyArray<Line>
): Generator<Judged> {
  const behind = babbleOf(half)
  for (const answerer of answerers(half))
    for (const line of lines) if (isHeard(answerer, line)) yield { answerer, line, ...verdictOn(rendition(answerer, line, behind)) }
}

const soonMillis = 4000
export const isFoundSoon = ({ millis, verdict }: Judged) => verdict === "machine" && millis <= soonMillis
export const isTakenForMachine = ({ verdict }: Judged) => verdict === "machine"
export const percent = (judged: ReadonlyArray<Judged>, isSo: (one: Judged) => boolean): number =>
  (100 * judged.filter(isSo).length) / Math.max(1, judged.length)
