/** The media plane, part by part: codec, resampler, pacer, answering-machine detection. */
import { Effect } from "effect"
import t from "tap"
import { makeAmd } from "#runtime/voice/Amd.ts"
import { makeFramePacer } from "#runtime/voice/FramePacer.ts"
import { fliteLayer } from "#test/support/flite.ts"
import { decode, decodeSample, encode, encodeFrames, encodeSample } from "#core/audio/Mulaw.ts"
import { makeResampler, resample } from "#core/audio/Resampler.ts"
import { spokenText } from "#runtime/voice/SpokenText.ts"
import { makeSpeechCache } from "#runtime/voice/SpeechCache.ts"
import { heardText } from "#runtime/voice/HeardText.ts"
import { Tts } from "#runtime/voice/Tts.ts"
import { handTurned } from "#test/support/handTurned.ts"
import { pcm } from "#test/support/sound.ts"

const sine = (hz: number, seconds: number, rate = 8000, amplitude = 8000): Int16Array =>
  Int16Array.from({ length: seconds * rate }, (_, index) => Math.round(amplitude * Math.sin((2 * Math.PI * hz * index) / rate)))
const rms = (samples: Int16Array): number => Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length)

t.test("mu-law", async (t) => {
  // The standard's definition, on 14 bits: the levels of segment s start at 33 * 2^s - 33 and are 2^(s+1) apart, sixteen of them.
  const level = (code: number): number => {
    const segment = 7 - Math.floor((code & 0x7f) / 16)
    const step = 15 - (code & 0x0f)
    const value = 4 * ((33 + 2 * step) * 2 ** segment - 33)
    return code < 0x80 ? -value : value
  }
  const codes = Array.from({ length: 256 }, (_, code) => code)

  t.test("each code is read as the standard's level", async (t) => {
    t.strictSame(
      codes.map(decodeSample),
      codes.map((code) => level(code) + 0)
    )
  })
  t.test("each sample becomes the code of a level at most half a step away", async (t) => {
    const samples = Array.from({ length: 65536 }, (_, index) => index - 32768)
    const halfStep = (sample: number) => 4 * 2 ** Math.floor(Math.log2((Math.min(Math.abs(sample), 32635) + 132) / 128))
    const tooFar = samples.filter(
      (sample) => Math.abs(Math.max(-32635, Math.min(32635, sample)) - level(encodeSample(sample))) > halfStep(sample)
    )
    t.strictSame(tooFar, [])
  })
  t.test("a code survives the conversion to PCM and back", async (t) => {
    // 0x7f is a second zero, which becomes the first.
    t.strictSame(
      codes.map((code) => encodeSample(decodeSample(code))),
      codes.map((code) => (code === 0x7f ? 0xff : code))
    )
  })
  t.test("frames are padded with silence", async (t) => {
    const codes = encodeFrames(new Int16Array(200).fill(1000))
    t.equal(codes.length, 320)
    t.ok(codes.subarray(200).every((code) => code === 0xff))
  })
})

t.test("the resampler", async (t) => {
  const middle = (samples: Int16Array) => samples.subarray(200, samples.length - 200)
  t.test("keeps what a phone transmits and removes what would fold back", async (t) => {
    const kept = rms(middle(resample(sine(1000, 1, 16000), 16000, 8000)))
    const folded = rms(middle(resample(sine(5000, 1, 16000), 16000, 8000)))
    t.ok(Math.abs(kept / (8000 / Math.SQRT2) - 1) < 0.001, `kept ${kept}`)
    t.ok(folded < 2, `folded ${folded}`)
  })
  t.test("in any direction and fraction, the length follows the rates", async (t) => {
    for (const rate of [16000, 24000, 22050]) t.equal(resample(sine(440, 1, rate), rate, 8000).length, 8000)
    for (const rate of [16000, 24000]) t.equal(resample(sine(440, 1, 8000), 8000, rate).length, rate)
  })
  t.test("chunks of any size give the same result as the whole", async (t) => {
    const whole = sine(700, 1, 22050)
    const { flush, push } = makeResampler(22050, 8000)
    const parts: Array<number> = []
    for (let at = 0; at < whole.length; at += 317) parts.push(...push(whole.subarray(at, at + 317)))
    t.strictSame([...parts, ...flush()], [...resample(whole, 22050, 8000)])
  })
})

const counter = () => {
  const seen = { frames: 0, skipped: 0, times: [] as number[], failure: undefined as unknown }
  const stream = {
    frame: (now: number) => {
      seen.frames++
      seen.times.push(now)
    },
    skipped: (frames: number) => void (seen.skipped += frames),
    failed: (cause: unknown) => void (seen.failure = cause)
  }
  return { seen, stream }
}
/** A pacer whose time passes when it is turned, and streams that have joined it. */
const paced = (count: number) => {
  const { isAsleep, time, turn } = handTurned()
  const pacer = makeFramePacer(time)
  const joins = () => {
    const { seen, stream } = counter()
    return { leave: pacer.join(stream), seen }
  }
  return { isAsleep, joins, pacer, streams: Array.from({ length: count }, joins), turn }
}

t.test("the frame pacer", async (t) => {
  t.test("gives 500 streams 50 frames per second each, spread over the wheel", async (t) => {
    const { streams, turn } = paced(500)
    turn(9_999)
    t.strictSame(new Set(streams.map(({ seen }) => seen.frames)), new Set([500]))
    const phases = streams.map(({ seen }) => (seen.times[0] ?? 0) % 20)
    for (const phase of [0, 2, 4, 6, 8, 10, 12, 14, 16, 18]) t.equal(phases.filter((own) => own === phase).length, 50)
    t.ok(streams.every(({ seen }) => seen.times.every((time, index) => time === (seen.times[0] ?? 0) + 20 * index)))
  })
  t.test("makes up for a short stall, and skips the same number of frames for all after a long one", async (t) => {
    const { streams, turn } = paced(9)
    turn(999)
    turn(40, 40)
    turn(960)
    t.ok(streams.every(({ seen }) => seen.frames === 100 && seen.skipped === 0))
    turn(500, 500)
    turn(500)
    t.ok(streams.every(({ seen }) => seen.frames + seen.skipped === 150 && seen.skipped === (streams[0]?.seen.skipped ?? 0)))
    t.ok((streams[0]?.seen.skipped ?? 0) >= 23)
  })
  t.test("a stream may leave from within its frame; the last one stops the wheel, the next one starts it", async (t) => {
    const { isAsleep, joins, pacer, turn } = paced(0)
    const other = joins()
    let frames = 0
    const leave = pacer.join({ ...counter().stream, frame: () => void (++frames === 3 && leave()) })
    turn(199)
    t.strictSame([frames, other.seen.frames, pacer.size()], [3, 10, 1])
    other.leave()
    other.leave()
    t.ok(isAsleep())
    turn(1000)
    const next = joins()
    turn(99)
    t.equal(next.seen.frames, 5)
  })
  t.test("a stream that joins a lone one does not wait for it", async (t) => {
    const { joins, turn } = paced(1)
    turn(1006)
    const late = joins()
    turn(5)
    t.equal(late.seen.frames, 1)
  })
  t.test("a stream that throws is removed, and only that one", async (t) => {
    const { joins, pacer, turn } = paced(0)
    const bad = counter()
    const frame = () => {
      throw new Error("broken")
    }
    pacer.join({ ...bad.stream, frame })
    const good = joins()
    turn(100)
    t.match(bad.seen.failure, { message: "broken" })
    t.strictSame([good.seen.frames, pacer.size()], [5, 1])
  })
})

t.test("answering machine detection", async (t) => {
  const say = (text: string) =>
    Effect.runPromise(Tts.use((tts) => tts.speak(text)).pipe(Effect.map(decode), Effect.provide(fliteLayer({ voice: "rms" }))))
  /** Starts after 300 ms, over noise. Returns the verdict and the time it took since the start of the speech. */
  const judge = (speech: Int16Array, noise = 10): { readonly verdict: string; readonly millis: number } => {
    let seed = 1
    const hiss = () => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 0x80000000 - 1
    const samples = speech.length + 25 * 8000
    const line = encode(Int16Array.from({ length: samples }, (_, index) => (speech[index - 2400] ?? 0) + hiss() * noise * 1.7))
    const amd = makeAmd()
    for (let at = 0; at + 160 <= line.length; at += 160) {
      const verdict = amd.push(pcm(line.subarray(at, at + 160)), at / 8)
      if (verdict !== undefined) return { verdict, millis: at / 8 - 300 }
    }
    return { verdict: "none", millis: 0 }
  }
  const hello = await say("Hello?")
  const machine = await say("Hi, you have reached John Smith. I cannot come to the phone right now. Please leave a message after the tone.")

  const check = (what: string, speech: Int16Array, expected: string, mostMillis: number, noise?: number) =>
    t.test(what, async (t) => {
      const { millis, verdict } = judge(speech, noise)
      t.equal(verdict, expected)
      t.ok(millis < mostMillis, `${millis} ms`)
    })
  const ever = Number.POSITIVE_INFINITY
  check("a hello is a person, soon after they start to wait", hello, "human", 1400)
  check("an answerer who keeps speaking is a machine, before it has finished", machine, "machine", 3500)
  check("noise does not change a person", hello, "human", ever, 500)
  check("nor a machine", machine, "machine", ever, 500)
  check("silence is nobody", new Int16Array(0), "unknown", ever)
  check("noise is nobody", new Int16Array(0), "unknown", ever, 1300)
  check("a click is nobody", sine(900, 0.04), "unknown", ever)
})

t.test("spoken text", async (t) => {
  const check = (text: string, spoken: string | undefined) => t.equal(spokenText(text), spoken, text)
  check("at 3pm or 10:30 a.m. today", "at 3 PM or 10:30 AM today")
  check("Visit https://www.acme.com/help.", "Visit w w w dot acme dot com slash help.")
  check("Mail bob.x@acme.com or see acme.io!", "Mail bob dot x at acme dot com or see acme dot io!")
  check("Call +1 555-010-0123 & ask", "Call 1, 5 5 5, 0 1 0, 0 1 2 3 and ask")
  check("12 Main St. near St. Mary", "12 Main Street near St. Mary")
  check("José’s “café” — 20% off, €5", "Jose's cafe, 20 percent off, 5 euros")
  check("press 1, * or #.", "press 1, star or pound.")
  check("*bold* order #45\n\u0007now", "bold order number 45 now")
  check("It costs $1,250.50, €12.50, £1 or $0.99", "It costs 1,250 dollars and 50 cents, 12 euros and 50 cents, 1 pound or 99 cents")
  check("from $5 million to $3k, 20 € or 12,50 €", "from 5 million dollars to 3 thousand dollars, 20 euros or 12 euros and 50 cents")
  check("$5. At 9:00 AM. Dial *67.", "5 dollars. At 9 AM. Dial star 67.")
  check("at 9:00, 9:05, 09:30 or 9:00 AM, and 14:00", "at 9 o'clock, 9 oh 5, 9:30 or 9 AM, and 2 PM")
  check("9am–5pm, 10:00-11:30, 9-5 pm, 10–12, $5-$6", "9 AM to 5 PM, 10 o'clock to 11:30, 9 to 5 PM, 10 to 12, 5 dollars to 6 dollars")
  check("Mon-Fri, Sat – Sun. On Tue, the sun", "Monday to Friday, Saturday to Sunday. On Tuesday, the sun")
  check("on 2026-12-05 or 12/25/2026", "on December 5, 2026 or December 25, 2026")
  check("1-800-555-0123", "1, 8 0 0, 5 5 5, 0 1 2 3")
  check("555-0123 or (415) 555-0123, 1/2 of it 24/7", "5 5 5, 0 1 2 3 or 4 1 5, 5 5 5, 0 1 2 3, one half of it 24 7")
  check("20°C, 30 min, 1 hr, 5 km, 2*3", "20 degrees Celsius, 30 minutes, 1 hour, 5 kilometers, 2 times 3")
  check("Version 2.10.3 of 10-11-12, order 12-34 and A-1", "Version 2.10.3 of 10-11-12, order 12-34 and A-1")
  check("日本語", undefined)
  check(" ... ", undefined)
})

t.test("the speech cache forgets what was used least recently", async (t) => {
  const cache = makeSpeechCache(1000)
  const keys = ["a", "b", "c", "d"]
  for (const key of keys) cache.set(key, new Uint8Array(250))
  cache.get("a")
  cache.set("e", new Uint8Array(250))
  cache.set("huge", new Uint8Array(251))
  const kept = [...keys, "e", "huge"].filter((key) => cache.get(key) !== undefined)
  t.strictSame(kept, ["a", "c", "d", "e"])
  t.equal(cache.bytes(), 1000)
})

t.test("of a text, only whole words count as heard", async (t) => {
  const heard = [1600, 960, 160].map((played) => heardText([{ text: "one two three", bytes: 1600 }], played))
  t.strictSame(heard, ["one two three", "one", ""])
  const pieces = ["One two.", "Three four."].map((text) => ({ text, bytes: 800 }))
  const heardOfPieces = [0, 640, 800, 960, 1440, 1600].map((played) => heardText(pieces, played))
  t.strictSame(heardOfPieces, ["", "One", "One two.", "One two.", "One two. Three", "One two. Three four."])
})
