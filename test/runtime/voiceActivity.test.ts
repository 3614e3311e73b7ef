/** When the callee counts as speaking: on quiet and noisy lines, with speech and with other sounds. */
import t from "tap"
import { makeEnergyGate } from "#core/audio/EnergyGate.ts"
import { makeVoiceActivity, type VoiceEvent } from "#core/audio/VoiceActivity.ts"
import { makeVoiceDetector } from "#runtime/voice/FvadWasm.ts"
import { fliteClips } from "#test/support/prompts.ts"
import { after, framesOf, hiss, levelOf, nothing, over, type Sound, tone } from "#test/support/sound.ts"

interface Change {
  readonly event: VoiceEvent
  /** When it was detected, and when it happened. */
  readonly at: number
  readonly since: number
}

const changesIn = (sound: Sound): ReadonlyArray<Change> => {
  const detector = makeVoiceDetector()
  const activity = makeVoiceActivity({ isVoice: detector.isVoice, gate: makeEnergyGate() })
  const changes: Array<Change> = []
  let at = 0
  for (const frame of framesOf(sound)) {
    at += 20
    const event = activity.push(frame)
    if (event !== undefined) changes.push({ event, at, since: at - activity.changedMillisAgo() })
  }
  detector.free()
  return changes
}
const named = (changes: ReadonlyArray<Change>, event: VoiceEvent) => changes.filter((change) => change.event === event)
const share = (values: ReadonlyArray<number>, part: number) =>
  values.toSorted((a, b) => a - b)[Math.floor(part * values.length)] ?? Number.NaN

const phrases = ["Yes.", "No, thank you.", "Who is this?", "I would like to pay next Tuesday.", "My number is five five one nine two."]
const clips = [...fliteClips(phrases)]

/** Each phrase once, with pauses of at least 1.2 s between them, over noise that is that much fainter. */
const conversation = (decibels: number) => {
  const spans: Array<{ readonly from: number; readonly until: number }> = []
  const parts: Array<Sound> = [nothing(1500)]
  let at = 1500
  for (const [index, { samples }] of clips.entries()) {
    const gap = 1200 + (index % 7) * 100
    // The clips have 20 ms of silence before the speech, and 50 ms after it.
    spans.push({ from: at + 20, until: at + samples.length / 8 - 50 })
    parts.push(samples, nothing(gap))
    at += samples.length / 8 + gap
  }
  const clean = after(...parts)
  const speech = levelOf(after(...clips.map(({ samples }) => samples)))
  return { spans, sound: over(clean, hiss(clean.length / 8, speech / 10 ** (decibels / 20), 7)) }
}

const trial = (decibels: number) => {
  const { sound, spans } = conversation(decibels)
  const changes = changesIn(sound)
  const [started, ended] = [named(changes, "started"), named(changes, "ended")]
  const within = (change: Change, { from, until }: (typeof spans)[number]) => change.at > from && change.at < until + 300
  const first = spans.map((span) => started.find((change) => within(change, span)))
  const last = spans.map((span) => ended.findLast(({ since, at }) => since > span.from && at < span.until + 1200))
  return {
    missed: first.filter((change) => change === undefined).length,
    falseStarts: started.filter((change) => !spans.some((span) => within(change, span))).length,
    splits: started.length - first.filter((change) => change !== undefined).length,
    startMillis: first.flatMap((change, index) => (change === undefined ? [] : [change.at - (spans[index]?.from ?? 0)])),
    endMillis: last.flatMap((change, index) => (change === undefined ? [] : [change.at - (spans[index]?.until ?? 0)])),
    unended: last.filter((change) => change === undefined).length
  }
}

t.test("given phrases, when they are heard on a line, then each is found where it begins and ends", async (t) => {
  const check = (
    decibels: number,
    most: { readonly missed: number; readonly falseStarts: number; readonly start: number; readonly end: number }
  ) => {
    const { endMillis, falseStarts, missed, splits, startMillis, unended } = trial(decibels)
    const [start, end] = [share(startMillis, 0.5), share(endMillis, 0.5)]
    t.ok(unended <= most.missed, `${decibels} dB: ${unended} without an end`)
    t.ok(splits <= clips.length / 5, `${decibels} dB: ${splits} split`)
    t.ok(missed <= most.missed, `${decibels} dB: ${missed} missed`)
    t.ok(falseStarts <= most.falseStarts, `${decibels} dB: ${falseStarts} false starts`)
    t.ok(start <= most.start, `${decibels} dB: begins after ${start} ms`)
    t.ok(end <= most.end, `${decibels} dB: ends after ${end} ms`)
  }
  check(60, { missed: 0, falseStarts: 0, start: 65, end: 230 })
  check(20, { missed: 0, falseStarts: 0, start: 90, end: 400 })
  check(10, { missed: 3, falseStarts: 3, start: 120, end: 450 })
})

/** The changes in a call of these frames: v is voice, - is not. `noise` is the level before. */
const changesOf = (frames: string, noise = 10): ReadonlyArray<string> => {
  let at = 0
  const gate = { push: () => true, noise: () => noise }
  const activity = makeVoiceActivity({ isVoice: () => frames[at] === "v", gate })
  const changes: Array<string> = []
  const [frame] = framesOf(nothing(20))
  for (; at < frames.length; at++) {
    const event = frame && activity.push(frame)
    if (event !== undefined) changes.push(`${(at + 1) * 20} ${event} ${activity.changedMillisAgo()} ms ago`)
  }
  return changes
}

t.test("given frames with and without voice, when there are enough of either, then that is reported, with the time it took", async (t) => {
  const check = (name: string, frames: string, expected: ReadonlyArray<string>, noise?: number) =>
    t.strictSame(changesOf(frames, noise), expected, name)
  const quiet = "-".repeat(25)
  check("a click", `--vv-vv${quiet}`, [])
  check("a word", `--vvv${quiet}`, ["100 started 60 ms ago", "200 paused 100 ms ago", "300 ended 200 ms ago"])
  check("a pause in a word", `vvv-----v${quiet}`, [
    "60 started 60 ms ago",
    "160 paused 100 ms ago",
    "180 resumed 20 ms ago",
    "280 paused 100 ms ago",
    "380 ended 200 ms ago"
  ])
  check("a gap that is none", `vvv----v${quiet}`, ["60 started 60 ms ago", "260 paused 100 ms ago", "360 ended 200 ms ago"])
  check("a word on a noisy line", `vvv${quiet}`, ["60 started 60 ms ago", "160 paused 100 ms ago", "460 ended 400 ms ago"], 600)
  check("and on one that is less so", `vvv${quiet}`, ["60 started 60 ms ago", "160 paused 100 ms ago", "360 ended 300 ms ago"], 194)
})

t.test("given noise that stays the same, when it is heard for long, then it does not count as voice, and voice over it does", async (t) => {
  const noise = changesIn(hiss(20_000, 2000))
  const areEarly = noise.every(({ at }) => at < 1500)
  t.ok(areEarly, "only while the line is not known")
  t.equal(named(noise, "started").length, named(noise, "ended").length)
  t.strictSame(changesIn(nothing(5000)), [])
  t.strictSame(changesIn(hiss(5000, 60)), [], "a quiet line")
})

t.test("given two calls, when they are heard at the same time, then each hears its own", async (t) => {
  const [one, two] = [conversation(20).sound.subarray(0, 80_000), after(nothing(700), tone(3000, [300, 5000], [900, 3000]))]
  const alone = [one, two].map(changesIn)
  const calls = [one, two].map((sound) => {
    const detector = makeVoiceDetector()
    const activity = makeVoiceActivity({ isVoice: detector.isVoice, gate: makeEnergyGate() })
    return { activity, detector, frames: [...framesOf(sound)], events: [] as string[] }
  })
  for (let at = 0; at < 500; at++) {
    for (const { activity, events, frames } of calls) {
      const frame = frames[at]
      const event = frame && activity.push(frame)
      if (event !== undefined) events.push(event)
    }
  }
  for (const { detector } of calls) detector.free()
  t.strictSame(
    calls.map(({ events }) => events),
    alone.map((changes) => changes.map(({ event }) => event))
  )
  t.equal(calls[0]?.detector.isVoice(new Int16Array(160)), false, "one that was freed hears nothing")
})

t.test("given a detector that reports voice after the last sound, then the voice stopped with the sound, if that is known", async (t) => {
  const pausedFor = (tailFrames: number, tailLevel: number) => {
    const levels = [...Array.from({ length: 20 }, () => 2000), ...Array.from({ length: tailFrames }, () => tailLevel)]
    let heard = 0
    const gate = { push: () => true, noise: () => 0 }
    const activity = makeVoiceActivity({ isVoice: () => heard <= levels.length, gate })
    const samples = new Int16Array(160)
    while (heard < 60) {
      heard++
      if (activity.push({ samples, level: levels[heard - 1] ?? 0 }) === "paused") return activity.changedMillisAgo()
    }
    return undefined
  }
  t.equal(pausedFor(0, 0), 100)
  t.equal(pausedFor(4, 20), 180)
  t.equal(pausedFor(20, 20), 200, "but not for longer than detectors go on")
  t.equal(pausedFor(4, 500), 100, "what is not much quieter than the voice is part of it")
})
