/** Who listens to the callee: in what order, how soon, and until when. */
import { Effect } from "effect"
import t from "tap"
import { decodeSample, encodeSample } from "#core/audio/Mulaw.ts"
import type { Recording } from "#runtime/voice/Recording.ts"
import type { FrameListener } from "#runtime/voice/FrameListener.ts"
import type { Arrivals } from "#runtime/voice/Inbound.ts"
import { openLine } from "#runtime/voice/VoiceLine.ts"
import { loopback } from "#test/support/voiceScene.ts"

const ignore = () => {}

/** A call with these listeners and a recorder, and what its callee says. */
const call = (listeners: ReadonlyArray<FrameListener>) => {
  const callee = loopback()
  const recorded: Array<number> = []
  const failures: Array<unknown> = []
  let arrivals: Arrivals | undefined
  const recording: Recording = {
    hear: (from) => {
      arrivals = from
    },
    push: () => {
      const sample = arrivals?.take()?.samples[0]
      if (sample !== undefined) recorded.push(sample)
    },
    skip: ignore,
    close: Effect.succeed(0)
  }
  const says: Array<(codes: Uint8Array) => void> = []
  const media = { ...callee.media, listen: ({ frame }: { readonly frame: (codes: Uint8Array) => void }) => void says.push(frame) }
  const events = { verdict: ignore, moment: ignore, skipped: ignore, closed: ignore, failed: (cause: unknown) => void failures.push(cause) }
  const line = openLine(media, callee.pacer, events, { recording, detectMachine: false, listeners: () => listeners })
  const say = (...samples: ReadonlyArray<number>) => {
    for (const sample of samples) for (const frame of says) frame(new Uint8Array(160).fill(encodeSample(sample)))
  }
  return { callee, failures, line, recorded, say }
}
const onLine = (sample: number) => decodeSample(encodeSample(sample))

t.test("given a burst, when it arrives, then each listener hears each frame at once and in turn, and so does the recorder", async (t) => {
  const heard: Array<string> = []
  const listener = (name: string): FrameListener => ({
    hear: ({ level, samples }) => void heard.push(`${name} ${samples[159]} ${Math.round(level)}`)
  })
  const { callee, recorded, say } = call([listener("keys"), listener("voice")])
  say(1000, -2000)
  const [one, two] = [onLine(1000), onLine(-2000)]
  t.strictSame(heard, [`keys ${one} ${one}`, `voice ${one} ${one}`, `keys ${two} ${-two}`, `voice ${two} ${-two}`])
  callee.talk(3)
  t.strictSame(recorded, [one, two])
})

t.test("given a carrier that sends no silence, when nothing arrives, then listeners hear silence after 60 ms", async (t) => {
  const heard: Array<number> = []
  const { callee, say } = call([{ hear: ({ level }) => void heard.push(Math.round(level)) }])
  say(1000)
  callee.talk(3)
  t.strictSame(heard, [onLine(1000)])
  callee.talk(2)
  say(1000)
  callee.talk(1)
  t.strictSame(heard, [onLine(1000), 0, 0, onLine(1000)])
})

t.test("given a call that is over, when frames still arrive, then nobody hears them, and each listener is notified once", async (t) => {
  let heard = 0
  let closed = 0
  const { line, say } = call([{ hear: () => heard++, close: () => closed++ }])
  say(1)
  line.hangUp()
  say(2)
  line.hangUp()
  t.strictSame([heard, closed], [1, 1])
})

t.test("given a listener that throws, when the callee says something, then the audio of the call fails, and nothing else", async (t) => {
  const broken = new Error("broken")
  const hear = () => {
    throw broken
  }
  const { callee, failures, say } = call([{ hear }])
  say(1, 2)
  callee.talk(5)
  t.strictSame([failures, callee.sent.length, callee.pacer.size()], [[broken], 0, 0])
})
