/** The JSON media protocol of hosted carriers, without a socket: what is read, what is sent, and when marks have been played. */
import fc from "fast-check"
import t from "tap"
import { base64Length, decodeBase64, encodeBase64 } from "#adapters/shared/base64.ts"
import { checkpointDialect, type JsonDialect, jsonMedia, streamSidDialect, telnyxDialect } from "#adapters/shared/JsonMedia.ts"
import { MediaMarks } from "#adapters/shared/MediaMarks.ts"
import { MediaMessage } from "#adapters/shared/MediaMessage.ts"
import { forAll, forAllOf } from "#test/support/forAll.ts"
import { talkOver } from "./mediaTalk.ts"

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

t.test("base64 is that of Node, in both directions", async (t) => {
  forAll(fc.uint8Array({ maxLength: 400, size: "max" }), (bytes) => {
    const text = Buffer.from(bytes).toString("base64")
    const encoded = new Uint8Array(base64Length(bytes.length) + 2)
    encodeBase64(bytes, encoded, 1)
    const decoded = new Uint8Array(600)
    const count = decodeBase64(bytesOf(` ${text}`), 1, text.length + 1, decoded)
    return Buffer.from(encoded).toString("latin1", 1, text.length + 1) === text && Buffer.from(bytes).equals(decoded.subarray(0, count))
  })
  const target = new Uint8Array(100)
  for (const bad of ["A", "AB", "ABC", "AB=C", "A===", "====", "AB\u00e9=", "AB C", "ABCD=", "AB-_"])
    t.equal(decodeBase64(bytesOf(bad), 0, bytesOf(bad).length, target), -1, JSON.stringify(bad))
})

// --- finding the audio

const found = new MediaMessage()
/** The same message as `JSON.parse` reads it. */
const parsed = (text: string): { readonly payload: unknown; readonly chunk: unknown; readonly track: unknown } | undefined => {
  try {
    const { event, media } = JSON.parse(text)
    return event === "media" ? media : undefined
  } catch {
    return undefined
  }
}
const readOf = (text: string) => {
  const bytes = bytesOf(text)
  return found.read(bytes) ? Buffer.from(bytes.subarray(found.payloadFrom, found.payloadTo)).toString() : undefined
}

t.test("audio is found in the messages of all carriers", async (t) => {
  const messages = [
    '{"event":"media","sequenceNumber":"4","media":{"track":"inbound","chunk":"2","timestamp":"5","payload":"AAAA"},"streamSid":"MZ1"}',
    '{"event": "media","sequence_number": "4","media": {"track": "inbound_track","chunk": "2","payload": "AAAA"},"stream_id": "32DE"}',
    '{"sequenceNumber":2,"streamId":"20","event":"media","media":{"track":"inbound","timestamp":"1","chunk":2,"payload":"AAAA"},"extra_headers":""}',
    ' {\n"media" : { "payload" : "AAAA" , "chunk" : 2 , "ok" : true } , "event" : "media" }\n'
  ]
  for (const message of messages) t.strictSame([readOf(message), found.chunk, found.isInbound], ["AAAA", 2, true], message)
  t.equal(readOf('{"event":"media","media":{"track":"outbound","payload":"AAAA"}}'), "AAAA")
  t.strictSame([found.isInbound, found.chunk], [false, -1])
})

t.test("what is not certain is left to the parser", async (t) => {
  const messages = [
    '{"event":"media","media":{"payload":"AA\\/A"}}',
    '{"event":"media","media":{"payload":"AAAA","payload":"BBBB"}}',
    '{"event":"media","event":"stop","media":{"payload":"AAAA"}}',
    '{"event":"stop","media":{"payload":"AAAA"}}',
    '{"event":"media","media":{"payload":"AAAA"},"media":{"payload":"BBBB"}}',
    '{"event":"media","media":{"payload":"AAAA","more":{}}}',
    '{"event":"media","media":{"payload":"AAAA"},"more":[]}',
    '{"event":"media","media":{"payload":5}}',
    '{"event":"media","media":{}}',
    '{"event":"media"}',
    '{"event":"media","media":{"payload":"AAAA"}} x',
    '{"event":"media","media":{"payload":"AAAA"}',
    '{"event":"media","media":{"payload":"AAAA',
    '{"event":"media","media":{"payload":"AAAA"},}',
    '{"event":"media","media":{"chunk":-1,"payload":"AAAA"}}',
    "{}",
    "",
    "[]"
  ]
  for (const message of messages) t.equal(readOf(message), undefined, message)
})

const json = fc.letrec((tie) => ({
  value: fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), tie("object")),
  object: fc.dictionary(fc.constantFrom("event", "media", "payload", "chunk", "track", "timestamp", "streamSid"), tie("value"))
}))
const message = fc.record({
  event: fc.constantFrom("media", "stop", "mark"),
  media: fc.oneof(json.object, fc.record({ payload: fc.base64String(), chunk: fc.oneof(fc.nat(), fc.string()), track: fc.string() })),
  other: json.value
})

t.test("for any message, the audio that is found is the parser's", async () => {
  const agrees = (text: string): boolean => {
    const payload = readOf(text)
    const audio = parsed(text)
    if (payload === undefined) return true
    const isSameChunk = audio?.chunk === undefined ? found.chunk === -1 : Number(audio.chunk) === found.chunk
    return audio?.payload === payload && isSameChunk && found.isInbound === String(audio.track ?? "inbound").startsWith("inbound")
  }
  forAllOf({ numRuns: 2000 }, message, fc.constantFrom(undefined, 1, "\t"), (value, space) =>
    agrees(JSON.stringify(value, undefined, space))
  )
  const whole = '{"event":"media","media":{"track":"inbound","chunk":"2","payload":"AAAA"},"streamSid":"MZ1"}'
  forAllOf({ numRuns: 2000 }, fc.nat(whole.length), fc.nat(3), fc.string({ maxLength: 3 }), (at, cut, put) =>
    agrees(whole.slice(0, at) + put + whole.slice(at + cut))
  )
})

// --- the protocol

const turned = () => {
  let now = 0
  const due: Array<{ readonly at: number; readonly run: () => void }> = []
  return {
    now: () => now,
    wake: (delay: number, run: () => void) => {
      const timer = { at: now + delay, run }
      due.push(timer)
      return () => void due.splice(0, due.length, ...due.filter((one) => one !== timer))
    },
    pass: (millis: number) => {
      now += millis
      for (const timer of due.filter(({ at }) => at <= now)) {
        due.splice(due.indexOf(timer), 1)
        timer.run()
      }
    }
  }
}

const talk = (dialect: JsonDialect) => {
  const time = turned()
  return { ...talkOver(jsonMedia(dialect, { time })), time }
}

const frame = Uint8Array.from({ length: 160 }, (_, n) => (n * 7) & 0xff)
const payload = Buffer.from(frame).toString("base64")
const answered = { _tag: "Answered" }
const format = { encoding: "audio/x-mulaw", sampleRate: 8000, channels: 1 }
const dialects = {
  Twilio: {
    dialect: streamSidDialect,
    start: { event: "start", streamSid: "MZ1", start: { streamSid: "MZ1", mediaFormat: format } },
    said: [
      { event: "media", streamSid: "MZ1", media: { payload } },
      { event: "mark", streamSid: "MZ1", mark: { name: "1" } },
      { event: "clear", streamSid: "MZ1" }
    ],
    played: (name: string) => ({ event: "mark", streamSid: "MZ1", mark: { name } })
  },
  Telnyx: {
    dialect: telnyxDialect,
    start: { event: "start", stream_id: "s-1", start: { media_format: { encoding: "PCMU", sample_rate: 8000, channels: 1 } } },
    said: [{ event: "media", media: { payload } }, { event: "mark", mark: { name: "1" } }, { event: "clear" }],
    played: (name: string) => ({ event: "mark", stream_id: "s-1", mark: { name } })
  },
  Plivo: {
    dialect: checkpointDialect,
    start: { event: "start", sequenceNumber: 0, start: { callId: "c", streamId: "p-1", mediaFormat: { ...format, sampleRate: "8000" } } },
    said: [
      { event: "playAudio", media: { contentType: "audio/x-mulaw", sampleRate: 8000, payload } },
      { event: "checkpoint", streamId: "p-1", name: "1" },
      { event: "clearAudio", streamId: "p-1" }
    ],
    played: (name: string) => ({ event: "playedStream", streamId: "p-1", name })
  }
}

for (const [name, { dialect, played, said, start }] of Object.entries(dialects)) {
  t.test(`given ${name}'s dialect, then both sides use it`, async (t) => {
    const line = talk(dialect)
    t.equal(line.says({ event: "connected" }), undefined)
    const stream = line.follow(line.says(start))
    t.equal(stream.send(frame), true)
    t.equal(stream.mark("greeting"), true)
    stream.clear()
    t.strictSame(line.sent, said)
    t.strictSame(line.told, ["greeting cleared"])
    line.says(played("1"))
    t.strictSame(line.told, ["greeting cleared"], "when a cleared mark is reported as well, then it is not played")
    t.equal(stream.mark("greeting"), true)
    line.says(played("2"))
    t.strictSame(line.told, ["greeting cleared", "greeting played"])
    for (const bytes of [80, 80, 320, 100]) line.says({ event: "media", media: { payload: Buffer.alloc(bytes, 5).toString("base64") } })
    line.says({ event: "dtmf", dtmf: { digit: "#" } })
    line.says({ event: "dtmf", dtmf: { digit: "12" } })
    const whole = line.heard.map((heard) => heard.equals(Buffer.alloc(160, 5)))
    t.strictSame(whole, [true, true, true])
    t.strictSame(line.events, [answered, { _tag: "Dtmf", digit: "#" }], "its start shows the answer")
    line.says({ event: "stop" })
    t.strictSame(line.ends, [["ended", "the carrier stopped the stream"]])
    line.says({ event: "media", media: { payload } })
    line.protocol.closed("unknown", "closed")
    t.strictSame([line.heard.length, line.ends.length, stream.send(frame), stream.mark("more")], [3, 1, false, false])
  })
}

t.test("given audio in the wrong order", async (t) => {
  const line = talk(telnyxDialect)
  line.follow(line.says(dialects.Telnyx.start))
  const piece = (chunk: number | string, value: number, track = "inbound") =>
    line.says({ event: "media", media: { track, chunk, payload: Buffer.alloc(160, value).toString("base64") } })
  for (const chunk of [1, "3", "2", 3, 4]) piece(chunk, Number(chunk))
  piece(5, 5, "outbound")
  line.says('{"event":"media","media":{"payload":"\\u0041AAA","chunk":4}}')
  const numbers = line.heard.map((heard) => heard[0])
  t.strictSame(numbers, [1, 3, 4], "X12: then overtaken audio is left out, and so is audio that was sent to the callee")
})

t.test("given hostile messages, then each throws and changes nothing", async (t) => {
  const line = talk(streamSidDialect)
  const stream = line.follow(line.says(dialects.Twilio.start))
  const bad = [
    "",
    "garbage",
    "5",
    "null",
    "[]",
    "{}",
    '{"event":5}',
    '{"event":"media"}',
    '{"event":"media","media":{"payload":"A"}}',
    '{"event":"media","media":{"payload":"\\u0041"}}',
    `{"event":"media","media":{"payload":"\\u0041${"A".repeat(99_999)}"}}`
  ]
  for (const message of bad) t.throws(() => line.says(message), message.slice(0, 50))
  t.throws(() => line.protocol.message(bytesOf("{}"), false), "a binary message")
  t.throws(() => line.protocol.message(Uint8Array.from([0x7b, 0xff, 0xfe, 0x7d]), true), "not UTF-8")
  t.strictSame([line.heard, line.events, line.ends, stream.send(frame)], [[], [answered], [], true])
  for (const message of ['{"event":"__proto__"}', '{"event":"mark"}', '{"event":"dtmf","dtmf":{"digit":5}}', '{"event":"start"}'])
    t.equal(line.says(message), undefined, `${message} says nothing`)
  const starting = (start: object) => () => talk(streamSidDialect).says({ event: "start", start })
  t.throws(starting({}), "a start without an id")
  t.throws(starting({ streamSid: "M Z" }), "an invalid id")
  t.throws(starting({ streamSid: "MZ1", mediaFormat: { ...format, encoding: "audio/x-l16" } }), "another encoding")
  t.throws(starting({ streamSid: "MZ1", mediaFormat: { ...format, sampleRate: 16_000 } }), "another rate")
})

t.test("given a carrier that is too far behind, then frames and marks that it cannot take are refused", async (t) => {
  const line = talk(streamSidDialect)
  const stream = line.follow(line.says(dialects.Twilio.start))
  line.room(false)
  t.strictSame([stream.send(frame), stream.mark("one")], [false, false])
  line.room(true)
  t.strictSame([stream.send(frame), stream.mark("two"), line.told], [true, true, []])
})

t.test("given a carrier that does not report marks, then our clock decides", async (t) => {
  const line = talk(streamSidDialect)
  const stream = line.follow(line.says(dialects.Twilio.start))
  for (let frames = 0; frames < 50; frames++) stream.send(frame)
  stream.mark("greeting")
  line.time.pass(2999)
  t.strictSame(line.told, [], "two seconds of grace after the second of audio")
  line.time.pass(1)
  t.strictSame(line.told, ["greeting played"])
})

t.test("given a carrier that falls further and further behind, then its reports are awaited", async (t) => {
  const { dialect, played, start } = dialects.Twilio
  const line = talk(dialect)
  const stream = line.follow(line.says(start))
  const say = (name: string) => {
    for (let frames = 0; frames < 50; frames++) stream.send(frame)
    stream.mark(name)
    line.time.pass(1000)
  }
  say("one")
  line.time.pass(1900)
  line.says(played("1"))
  say("two")
  line.time.pass(5000)
  t.strictSame(line.told, ["one played"], "it was late before, and is later now")
  line.says(played("2"))
  t.strictSame(line.told, ["one played", "two played"])
  say("goodbye")
  line.time.pass(11_999)
  t.equal(line.told.length, 2)
  line.time.pass(1)
  t.strictSame(line.told.slice(2), ["goodbye played"], "but not for ever")
  say("once more")
  line.time.pass(3000)
  line.says(played("3"))
  line.time.pass(15_000)
  t.equal(line.told.length, 3, "a report that comes after our clock has spoken tells how late it is, too")
  line.time.pass(2000)
  t.equal(line.told.length, 4)
  say("at last")
  line.says(played("4"))
  line.says(played("5"))
  say("in time again")
  line.time.pass(2000)
  t.strictSame(line.told.slice(4), ["at last played", "in time again played"], "a carrier that has caught up has two seconds again")
})

t.test("marks that the carrier does not report are played when the audio before them has been", async (t) => {
  const time = turned()
  const told: Array<string> = []
  const marks = new MediaMarks({ report: (name, how) => void told.push(`${name} ${how}`), send: undefined, time })
  marks.mark("now")
  time.pass(0)
  for (let frames = 0; frames < 10; frames++) marks.sent()
  marks.mark("a")
  for (let frames = 0; frames < 10; frames++) marks.sent()
  marks.mark("b")
  time.pass(199)
  t.strictSame(told, ["now played"])
  time.pass(1)
  t.strictSame(told, ["now played", "a played"])
  marks.clear()
  marks.mark("c")
  time.pass(0)
  t.strictSame(told, ["now played", "a played", "b cleared", "c played"], "after a barge-in nothing is awaited")
  const accepted = Array.from({ length: 100 }, () => marks.mark("many")).filter((isAccepted) => isAccepted).length
  t.equal(accepted, 64, "and there is a limit")
  marks.close()
  time.pass(10_000)
  t.equal(told.length, 4, "nothing is reported after the end")
})
