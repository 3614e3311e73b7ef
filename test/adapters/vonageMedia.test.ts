/** Vonage's media protocol, without a socket: what is read and what is sent. `V9` and so on are cases of its conformance list. */
import fc from "fast-check"
import t from "tap"
import { linearMedia, vonageDialect } from "#adapters/shared/LinearMedia.ts"
import { decode, encode, encodeSample } from "#core/audio/Mulaw.ts"
import { forAll } from "#test/support/forAll.ts"
import { talkOver } from "./mediaTalk.ts"

const connected = { event: "websocket:connected", "content-type": "audio/l16;rate=8000", run: "42" }
/** 16-bit samples, little-endian, at an odd address. */
const linear = (samples: ReadonlyArray<number>): Uint8Array => {
  const bytes = Buffer.alloc(2 * samples.length + 1)
  for (const [at, sample] of samples.entries()) bytes.writeInt16LE(sample, 2 * at + 1)
  return bytes.subarray(1)
}
const tone = (samples: number) => Array.from({ length: samples }, (_, n) => Math.round(10_000 * Math.sin(n / 3)))

const talk = () => {
  const line = talkOver(linearMedia(vonageDialect))
  return { ...line, start: () => line.follow(line.says(connected)) }
}

t.test("V9: given a stream, when audio and a key arrive and it is closed, then all of this is reported", async (t) => {
  const { ends, events, heard, protocol, says, start } = talk()
  const samples = tone(50 * 160)
  t.equal(protocol.message(linear(samples.slice(0, 160)), false), undefined, "audio before the stream is dropped")
  start()
  t.equal(says(connected), undefined, "it starts once")
  for (let at = 0; at < samples.length; at += 160) protocol.message(linear(samples.slice(at, at + 160)), false)
  t.strictSame([...Buffer.concat(heard)], samples.map(encodeSample))
  for (const message of [{ digit: "5", duration: 260 }, { dtmf: { digit: "#" } }, { digit: "55" }, { digit: 5 }, {}])
    says({ event: "websocket:dtmf", ...message })
  t.strictSame(events, [{ _tag: "Answered" }, { _tag: "Dtmf", digit: "5" }, { _tag: "Dtmf", digit: "#" }])
  for (const event of ["websocket:cleared", "websocket:future", "constructor"]) t.equal(says({ event }), undefined)
  protocol.closed("ended", "closed")
  protocol.closed("unknown", "again")
  t.strictSame(ends, [["ended", "closed"]])
})

// By default, fast-check makes arrays of ten elements at most, and no frame would ever be complete.
const piece = fc.array(fc.integer({ min: -32_768, max: 32_767 }), { maxLength: 500, size: "max" })

t.test("V9: however the audio is cut, none of it is lost", async (t) => {
  forAll(fc.array(piece, { maxLength: 10 }), (pieces) => {
    const { heard, protocol, start } = talk()
    start()
    for (const piece of pieces) protocol.message(linear(piece), false)
    const all = pieces.flat().map(encodeSample)
    return JSON.stringify([...Buffer.concat(heard)]) === JSON.stringify(all.slice(0, all.length - (all.length % 160)))
  })
  t.end()
})

t.test("V10: our messages have the same size as Vonage's", async (t) => {
  const { protocol, room, sent, start } = talk()
  const stream = start()
  const frame = encode(Int16Array.from(tone(160)))
  t.ok(stream.send(frame))
  t.strictSame(sent, [Buffer.from(linear([...decode(frame)]))])
  t.notOk(stream.send(frame.subarray(1)), "a piece of a frame is not sent")
  room(false)
  t.notOk(stream.send(frame))
  protocol.closed("ended", "closed")
  t.notOk(stream.send(frame))
  t.equal(sent.length, 1)
})

t.test("V11: a mark that was cleared is not taken for one that was played", async (t) => {
  const { protocol, room, says, sent, start, told } = talk()
  const stream = start()
  const idOf = (message: unknown) => ({ event: "websocket:notify", payload: Object(Reflect.get(Object(message), "payload")) })
  t.ok(stream.mark("greeting"))
  stream.clear()
  t.match(sent, [{ action: "notify", payload: { id: String } }, { action: "clear" }])
  t.strictSame(told, ["greeting cleared"])
  says(idOf(sent[0]))
  t.ok(stream.mark("greeting"))
  says(idOf(sent[0]))
  t.strictSame(told, ["greeting cleared"])
  says(idOf(sent[2]))
  t.strictSame(told, ["greeting cleared", "greeting played"])
  for (const payload of [undefined, {}, { id: 7 }, { id: "99" }]) says({ event: "websocket:notify", payload })
  room(false)
  t.notOk(stream.mark("unheard"))
  protocol.closed("ended", "closed")
  t.notOk(stream.mark("late"))
  t.equal(told.length, 2)
})

t.test("what breaks the protocol fails", async (t) => {
  const { protocol, says } = talk()
  const bad = ["", "garbage", "[]", "{}", '{"event":7}', '{"event":"websocket:connected"}']
  for (const message of bad) t.throws(() => protocol.message(Buffer.from(message), true), message)
  t.throws(() => says({ ...connected, "content-type": "audio/l16;rate=16000" }))
  t.throws(() => protocol.message(Buffer.alloc(321), false), "half a sample")
  protocol.closed("failed", "unreadable")
})
