/** Compares the recording of a call with what its callee said and heard, by content. */
import type { Test } from "tap"
import { encode, frameSize } from "#core/audio/Mulaw.ts"
import { fromMulaw, isLoud, toMulaw } from "#test/emulators/ari/Sound.ts"
import { sidesOf } from "./stereo.ts"

/** What the callee of a call has heard and said, frame by frame. */
export interface Sounds {
  readonly heard: Array<Buffer>
  readonly said: Array<Buffer>
}

/** Of the callee's own frames, a busy machine may lose some on the way to the recording. */
const leastOfSaid = 0.9
const leastOfOthers = 0.98

/** The two zeros of mu-law become one. */
const codes = Uint8Array.from({ length: 256 }, (_, code) => toMulaw(fromMulaw(code)))
const withOneZero = (sound: Uint8Array): Buffer => Buffer.from(sound.map((code) => codes[code] ?? code))

/** The share of the loud frames of one sound that are in the other, wherever they begin. Quiet ones are the same everywhere. NaN if it has none. */
const shareIn = (sound: Buffer, other: Buffer): number => {
  const frames = Array.from({ length: Math.floor(sound.length / frameSize) }, (_, at) =>
    sound.subarray(at * frameSize, (at + 1) * frameSize)
  )
  const loud = frames.filter(isLoud)
  return loud.filter((frame) => other.includes(frame)).length / loud.length
}

/** Everything that was said and heard must be in the recording, each on its own side, and nothing else. */
export const judgeRecording = async (t: Test, url: string | null | undefined, { heard, said }: Sounds, about: object): Promise<void> => {
  const sides = sidesOf(Buffer.from(await (await fetch(url ?? "")).arrayBuffer()))
  const [agent, callee] = [withOneZero(encode(sides.agent)), withOneZero(encode(sides.callee))]
  const [agentsVoice, calleesVoice] = [withOneZero(Buffer.concat(heard)), withOneZero(Buffer.concat(said))]
  const shares = {
    said: shareIn(calleesVoice, callee),
    heard: shareIn(agentsVoice, agent),
    ofCallee: shareIn(callee, calleesVoice),
    ofAgent: shareIn(agent, agentsVoice),
    mixed: Math.max(shareIn(calleesVoice, agent), shareIn(agentsVoice, callee))
  }
  const { heard: toldByAgent, mixed, ofAgent, ofCallee, said: toldByCallee } = shares
  t.ok(toldByCallee >= leastOfSaid && toldByAgent >= leastOfOthers, "then what the callee said and heard is recorded", { ...about, shares })
  t.ok(Math.min(ofCallee, ofAgent) >= leastOfOthers && mixed === 0, "and nothing else, each on its side", { ...about, shares })
}
