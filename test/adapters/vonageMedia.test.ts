/** Vonage's media protocol, without a socket: what is read and what is sent. `V9` and so on are cases of its conformance list. */
import fc from "fast-check"
import t from "tap"
import { linearMedia, vonageDialect } from "#adapters/shared/LinearMedia.ts"
import { decode, encode, encodeSample } from "#core/audio/Mulaw.ts"
import type { MediaStream } from "#core/provider/Media.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { refTo } from "#test/support/refTo.ts"
import { newCallId } from "./Line.ts"

const connected = { event: "websocket:connected", "content-type": "audio/l16;rate=8000", run: "42" }
/** 16-bit samples, little-endian, at an odd address. */
const linear = (samples: ReadonlyArray<number>): Uint8Array => {
  const bytes = Buffer.alloc(2 * samples.length + 1)
  for (const [at, sample] of samples.entries()) bytes.writeInt16LE(sample, 2 * at + 1)
  return bytes.subarray(1)
}
const tone = (samples: number) => Array.from({ length: samples }, (_, n) => Math.round(10_000 * Math.sin(n / 3)))

/** A carrier and the engine, with what each has sent. */
const talk = () => {
  const said: Array<unknown> = []
  const events: Array<TrunkEvent> = []
  const heard: Array<number> = []
  const marks: Array<string> = []
  const ends: Array<string> = []
  let hasRoom = true
  const socket = {
    sendText: (message: string | Uint8Array) => hasRoom && said.push(JSON.parse(String(message))) > 0,
    sendBytes: (message: Uint8Array) => hasRoom && said.push(Buffer.from(message)) > 0,
    bufferedBytes: () => 0,
    close: () => {}
  }
  const protocol = linearMedia(vonageDialect)(refTo(newCallId()), socket, (event) => void events.push(event))
  const text = (message: unknown) => protocol.message(Buffer.from(JSON.stringify(message)), true)
  const listen = (stream: MediaStream) =>
    stream.listen({
      frame: (frame) => void heard.push(...frame),
      marked: (name, how) => void marks.push(`${name} ${how}`),
      closed: (how) => void ends.push(how)
    })
  const start = (): MediaStream => {
    const stream = text(connected)
    if (stream === undefined) throw new Error("no stream")
    listen(stream)
    return stream
  }
  const fill = () => {
    hasRoom = false
  }
  return { ends, events, fill, heard, marks, protocol, said, start, text }
}

t.test("V9: given a stream, when audio and a key arrive and it is closed, then all of this is reported", async (t) => {
  const { ends, events, heard, protocol, start, text } = talk()
  const samples = tone(50 * 160)
  t.equal(protocol.message(linear(samples.slice(0, 160)), false), undefined, "audio before the stream is dropped")
  start()
  t.equal(text(connected), undefined, "it starts once")
  for (let at = 0; at < samples.length; at += 160) protocol.message(linear(samples.slice(at, at + 160)), false)
  t.strictSame(heard, samples.map(encodeSample))
  for (const message of [{ digit: "5", duration: 260 }, { dtmf: { digit: "#" } }, { digit: "55" }, { digit: 5 }, {}])
    text({ event: "websocket:dtmf", ...message })
  t.strictSame(events, [{ _tag: "Answered" }, { _tag: "Dtmf", digit: "5" }, { _tag: "Dtmf", digit: "#" }])
  for (const event of ["websocket:cleared", "websocket:future", "constructor"]) t.equal(text({ event }), undefined)
  protocol.closed("ended", "closed")
  protocol.closed("unknown", "again")
  t.strictSame(ends, ["ended"])
})

// By default, fast-check makes arrays of ten elements at most, and no frame would ever be complete.
const piece = fc.array(fc.integer({ min: -32_768, max: 32_767 }), { maxLength: 500, size: "max" })

t.test("V9: however the audio is cut, none of it is lost", async (t) => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 10 }), (pieces) => {
      const { heard, protocol, start } = talk()
      start()
      for (const piece of pieces) protocol.message(linear(piece), false)
      const all = pieces.flat().map(encodeSample)
      return JSON.stringify(heard) === JSON.stringify(all.slice(0, all.length - (all.length % 160)))
    }),
    { seed: 1 }
  )
  t.end()
})

t.test("V10: our messages have the same size as Vonage's", async (t) => {
  const { fill, protocol, said, start } = talk()
  const stream = start()
  const frame = encode(Int16Array.from(tone(160)))
  t.ok(stream.send(frame))
  t.strictSame(said, [Buffer.from(linear([...decode(frame)]))])
  t.notOk(stream.send(frame.subarray(1)), "a piece of a frame is not sent")
  fill()
  t.notOk(stream.send(frame))
  protocol.closed("ended", "closed")
  t.notOk(stream.send(frame))
  t.equal(said.length, 1)
})

t.test("V11: a mark that was cleared is not taken for one that was played", async (t) => {
  const { fill, marks, protocol, said, start, text } = talk()
  const stream = start()
  const idOf = (message: unknown) => ({ event: "websocket:notify", payload: Object(Reflect.get(Object(message), "payload")) })
  t.ok(stream.mark("greeting"))
  stream.clear()
  t.match(said, [{ action: "notify", payload: { id: String } }, { action: "clear" }])
  t.strictSame(marks, ["greeting cleared"])
  text(idOf(said[0]))
  t.ok(stream.mark("greeting"))
  text(idOf(said[0]))
  t.strictSame(marks, ["greeting cleared"])
  text(idOf(said[2]))
  t.strictSame(marks, ["greeting cleared", "greeting played"])
  for (const payload of [undefined, {}, { id: 7 }, { id: "99" }]) text({ event: "websocket:notify", payload })
  fill()
  t.notOk(stream.mark("unheard"))
  protocol.closed("ended", "closed")
  t.notOk(stream.mark("late"))
  t.equal(marks.length, 2)
})

t.test("what breaks the protocol fails", async (t) => {
  const { protocol, text } = talk()
  const bad = ["", "garbage", "[]", "{}", '{"event":7}', '{"event":"websocket:connected"}']
  for (const message of bad) t.throws(() => protocol.message(Buffer.from(message), true), message)
  t.throws(() => text({ ...connected, "content-type": "audio/l16;rate=16000" }))
  t.throws(() => protocol.message(Buffer.alloc(321), false), "half a sample")
  protocol.closed("failed", "unreadable")
})
