/** Audio of calls, checked by its content at both ends. */
import { sampleRate, decode } from "#core/audio/Mulaw.ts"
import type { MediaStream } from "#core/provider/Media.ts"
import type { Rule } from "./Case.ts"
import { demand, inWords, NotAsked } from "./Nonconformity.ts"
import type { PlacedCall } from "./PlacedCall.ts"
import type { Scene } from "./Scene.ts"
import { clearest, frameOf, framesAt, LEVEL, speakUntil } from "./tones.ts"

const OURS_HERTZ = 1_000
const CUT_HERTZ = 500
/** A second and a half of audio. */
const ENOUGH_SAMPLES = 1.5 * sampleRate
const LEAST_SHARE = 0.9
const MOST_LEVEL_ERROR = 1.5
/** In decibels of full scale; louder than the noise of a line. */
const AUDIBLE_LEVEL = -35
/** Two seconds of audio, sent at once: more than any carrier plays before it gets the request to clear. */
const CUT_FRAMES = 100

/** Collects what arrives over the stream. */
class Ear {
  readonly marks: Array<string> = []
  samples: ReadonlyArray<number> = []
  end: string | undefined

  constructor(stream: MediaStream) {
    const pieces: Array<number> = []
    this.samples = pieces
    stream.listen({
      closed: (how, why) => void (this.end = `${how}: ${why}`),
      frame: (frame) => void pieces.push(...decode(frame)),
      marked: (name, how) => void this.marks.push(`${name} ${how}`)
    })
  }
}

/** A call whose callee makes a sound, and its audio. */
const talk = async (scene: Scene) => {
  const engine = await scene.engine()
  const call = await engine.answered(scene.number("stays"))
  const stream = await engine.audio(call)
  return { call, ear: new Ear(stream), engine, stream }
}

/** Plays our tone until the condition holds. */
const sayUntil = async (
  scene: Scene,
  { ear, stream }: { ear: Ear; stream: MediaStream },
  expected: string,
  holds: () => Promise<boolean>
) => {
  const began = performance.now()
  const isEnough = async () => {
    if (await holds()) return true
    const isOpen = ear.end === undefined && performance.now() - began < scene.patienceMillis
    demand(isOpen, expected, () => `a stream that is ${ear.end ?? "open"}`, "callee and agent must hear each other")
    return false
  }
  await speakUntil(stream, OURS_HERTZ, isEnough)
}

const heardBy = async (scene: Scene, call: PlacedCall): Promise<ArrayLike<number>> => await scene.phone(call.to, "heard")

const soundsClear = (samples: ArrayLike<number>, hertz: number, who: string): void => {
  const { share } = clearest(samples, hertz)
  demand(
    share > LEAST_SHARE,
    `${who} to hear a tone of ${hertz} Hz`,
    () => `a share of ${share.toFixed(2)} in what was heard`,
    "speech must arrive unchanged"
  )
}

export const audio: ReadonlyArray<Rule> = [
  {
    name: "audio: the callee is heard",
    holds: async (scene) => {
      const scenery = await talk(scene)
      const { ear, engine, call } = scenery
      await sayUntil(scene, scenery, "sound from the callee", async () => ear.samples.length >= ENOUGH_SAMPLES)
      const { calleeHertz } = scene.world
      if (calleeHertz === undefined) {
        const loudest = ear.samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0)
        demand(
          20 * Math.log10(loudest / 32_635 + 1e-12) > AUDIBLE_LEVEL,
          "a sound",
          () => `a peak of ${loudest}`,
          "the agent must hear the callee"
        )
      } else soundsClear(ear.samples, calleeHertz, "us")
      await engine.hangUp(call)
      await engine.ended(call)
    }
  },
  {
    name: "audio: the callee hears us, at our level",
    holds: async (scene) => {
      const scenery = await talk(scene)
      const { call, engine } = scenery
      await sayUntil(scene, scenery, "sound at the callee", async () => (await heardBy(scene, call)).length >= ENOUGH_SAMPLES)
      const heard = await heardBy(scene, call)
      soundsClear(heard, OURS_HERTZ, "the callee")
      const { level } = clearest(heard, OURS_HERTZ)
      demand(
        Math.abs(level - LEVEL) < MOST_LEVEL_ERROR,
        `${LEVEL.toFixed(1)} dB`,
        () => `${level.toFixed(1)} dB`,
        "speech must arrive unchanged"
      )
      await engine.hangUp(call)
      await engine.ended(call)
    }
  },
  {
    name: "audio: a mark is reported once, when the audio before it has been played",
    holds: async (scene) => {
      const { call, ear, engine, stream } = await talk(scene)
      const said = 25
      let sent = 0
      await speakUntil(stream, OURS_HERTZ, async () => (sent += 25) >= said)
      demand(
        stream.mark("said"),
        "a mark to be taken",
        () => "it refused",
        "without marks, nobody knows when the agent has finished speaking"
      )
      const why = "the agent waits for it before it hangs up or listens"
      await scene.until(
        "the mark is reported",
        () => ear.marks.length > 0 || undefined,
        () => ear.end ?? "an open stream",
        why
      )
      demand(ear.marks.join() === "said played", "one mark that was played", () => ear.marks.join(), why)
      if (scene.adapter.manifest.tells?.includes("marks") !== true || scene.world.cannot?.heardAtOnce !== undefined) return
      const heard = framesAt(await heardBy(scene, call), OURS_HERTZ)
      demand(
        heard >= said - 1,
        `${said} frames heard before it, as the manifest says that the carrier reports marks`,
        () => `${heard}`,
        why
      )
      await engine.hangUp(call)
    }
  },
  {
    name: "audio: what is cleared is not heard, its marks are reported as cleared, and what follows is heard",
    holds: async (scene) => {
      const scenery = await talk(scene)
      const { call, ear, engine, stream } = scenery
      const cut = frameOf(CUT_HERTZ)
      let sent = 0
      for (let frame = 0; frame < CUT_FRAMES; frame++) if (stream.send(cut)) sent += 1
      const isMarked = stream.mark("cut")
      stream.clear()
      const hears = async () => clearest(await heardBy(scene, call), OURS_HERTZ).share > LEAST_SHARE
      await sayUntil(scene, scenery, "the callee to hear what follows", hears)
      const heard = framesAt(await heardBy(scene, call), CUT_HERTZ)
      const why = "an agent that is interrupted must fall silent"
      demand(heard < sent / 2, `less than half of ${sent} frames to be heard`, () => `${heard}`, why)
      const told = await scene.until(
        "the mark is reported",
        () => (isMarked ? ear.marks.at(0) : "cut cleared"),
        () => inWords(ear.marks),
        why
      )
      demand(told === "cut cleared" && ear.marks.length <= 1, "the mark to be reported once, as cleared", () => inWords(ear.marks), why)
      await engine.hangUp(call)
    }
  },
  {
    name: "audio: where the carrier opens it, it ends with the call",
    holds: async (scene) => {
      if (scene.adapter.media === undefined) throw new NotAsked("we close the audio ourselves")
      const engine = await scene.engine()
      const call = await engine.answered(scene.number("leaves"))
      const stream = await engine.audio(call)
      const ear = new Ear(stream)
      await engine.ended(call)
      const why = "an agent would continue to talk to nobody"
      const end = await scene.until(
        "the end of the audio is reported",
        () => ear.end,
        () => call.story(),
        why
      )
      demand(!end.startsWith("failed"), "no failure of the audio", () => end, "a call that ended normally would count as lost")
    }
  }
]
