/** The audio of calls through hosted carriers: the adapters against emulated carriers over real websockets. What the callees heard is the judge. */
import t, { type Test } from "tap"
import { WebSocket } from "ws"
import * as builtIn from "#adapters/index.ts"
import type { CallId } from "#core/Id.ts"
import type { MediaEnd, MediaStream } from "#core/provider/Media.ts"
import { calleeHertz, fromMulaw } from "#test/emulators/ari/Sound.ts"
import { type CarrierName, carrierNames, carrierOf } from "#test/emulators/hostedCarriers.ts"
import { upgradeHeaders } from "#test/emulators/twilio/twilioMedia.ts"
import { until, untilTrue } from "#test/support/until.ts"
import { Hosted, OUR_NUMBER } from "./hosted.ts"
import { newCallId, numberOf } from "./Line.ts"
import { clearest, exchange, OUR_HERTZ, OUR_LEVEL, ourFrame, speakUntil } from "./tones.ts"

t.jobs = 4

const jsonGarbage = ["garbage", Buffer.from([1, 2, 3]), '{"event":"media","media":{"payload":"?"}}', "{".repeat(5000)]

/** Callees who press keys have time for all of them, however late the audio is opened. */
const talk = { talkMillis: 3000 }

const open = async (t: Test, name: CarrierName) => {
  const emulator = await carrierOf(name).start({ numbers: [OUR_NUMBER], ...talk })
  const [, adapter] = Object.entries(builtIn).find(([its]) => its === name) ?? []
  if (adapter === undefined) throw new Error(`no adapter ${name}`)
  const hosted = await Hosted.up(adapter, emulator.account, { apiOrigin: emulator.url })
  t.teardown(async () => {
    await hosted.close()
    await emulator.stop()
  })
  const callOf = (callId: CallId) => emulator.calls.get(hosted.ref(callId).providerCallId ?? "")
  /** The carrier's ends of the call's sockets. */
  const legs = (callId: CallId) => callOf(callId)?.legs ?? []
  return { emulator, hosted, legs, log: emulator.log, callOf }
}
type Carrier = Awaited<ReturnType<typeof open>>

/** A call that is up, its stream, and what is reported about it. */
const talkTo = async ({ hosted, legs }: Carrier, ending: string) => {
  const to = numberOf(ending)
  const { callId } = await hosted.originate(to)
  const stream = await hosted.media.stream(callId)
  const leg = await until("leg", () => legs(callId).at(-1))
  return { callId, leg, stream, to, id: hosted.ref(callId).providerCallId ?? "" }
}

const followed = (stream: MediaStream) => {
  const marks: Array<string> = []
  const ends: Array<MediaEnd> = []
  let frames = 0
  stream.listen({
    frame: () => void frames++,
    marked: (name, how) => void marks.push(`${name} ${how}`),
    closed: (how) => void ends.push(how)
  })
  return { ends, frames: () => frames, marks }
}

for (const name of carrierNames) {
  const { garbage: allGarbage = jsonGarbage, tellsKeys = true, title } = carrierOf(name)
  t.test(`given a call through ${title}`, { buffered: true }, async (t) => {
    const carrier = await open(t, name)
    const { hosted, legs, log } = carrier

    await t.test("when both sides make a sound, then each hears the other at its level", async (t) => {
      const { callId, id, leg, stream } = await talkTo(carrier, "015")
      t.ok(hosted.media.shown.has(callId), "the audio shows the answer")
      const { closed, heard } = await exchange(stream, 3)
      await untilTrue("all of it", () => log.audio(id).played === log.audio(id).received)
      const theirs = clearest(heard, calleeHertz)
      t.ok(theirs.share > 0.9, `their tone is ${theirs.share.toFixed(2)} of it`)
      const ours = clearest(Array.from(log.heard(id), fromMulaw), OUR_HERTZ)
      t.ok(ours.share > 0.9, `our tone is ${ours.share.toFixed(2)} of what they heard`)
      t.ok(Math.abs(ours.level - OUR_LEVEL) < 1.5, `our level is ${ours.level.toFixed(1)} dB there`)
      t.strictSame([closed, leg.violations], [undefined, []])
      await hosted.hangup(hosted.ref(callId))
      await hosted.line.event(callId, "HungUp")
    })

    await t.test("T11: when marks are played or cleared, then each is reported as such", async (t) => {
      const { callId, id, leg, stream } = await talkTo(carrier, "015")
      const { marks } = followed(stream)
      t.ok(stream.mark("begin"))
      // A second of audio, sent at once, takes a second to play.
      for (let frames = 0; frames < 50; frames++) stream.send(ourFrame)
      t.ok(stream.mark("end"))
      await untilTrue("first mark", () => marks.length > 0)
      t.strictSame(marks, ["begin played"])
      await untilTrue("second mark", () => marks.length > 1)
      t.ok(log.audio(id).played >= 50, "the second one once everything has been heard")
      for (let frames = 0; frames < 500; frames++) stream.send(ourFrame)
      for (let marks = 0; marks < 3; marks++) stream.mark("cut")
      await untilTrue("some of it", () => log.audio(id).played > 55)
      stream.clear()
      await untilTrue("barge-in", () => leg.marks.length === 5)
      t.strictSame(marks, ["begin played", "end played", "cut cleared", "cut cleared", "cut cleared"])
      t.ok(log.audio(id).played < 500, "what was cleared is not heard")
      stream.send(ourFrame)
      stream.mark("after")
      await untilTrue("mark after it", () => marks.length > 5)
      t.strictSame([marks.at(-1), leg.violations], ["after played", []])
      await hosted.hangup(hosted.ref(callId))
    })

    await t.test("T12: when the callee presses keys, then each is reported once, in order", async (t) => {
      const { callId, stream } = await talkTo(carrier, "010")
      const { ends } = followed(stream)
      await hosted.line.event(callId, "HungUp")
      await untilTrue("end of the stream", () => ends.length > 0)
      const keys = hosted.line.events(callId).flatMap((event) => (event._tag === "Dtmf" ? [event.digit] : []))
      t.strictSame([keys.join(""), ends], [tellsKeys ? "1234#" : "", ["ended"]], "then the stream has ended normally")
    })

    await t.test("when we close the stream, then the carrier closes it too", async (t) => {
      const { callId, leg, stream } = await talkTo(carrier, "015")
      const { ends } = followed(stream)
      hosted.media.close(callId)
      await untilTrue("close", () => leg.closedBy !== undefined)
      t.strictSame([leg.closedBy, ends], [1000, ["ended"]])
      await hosted.hangup(hosted.ref(callId))
    })

    await t.test("T12: when the connection breaks, then the reason is unknown", async (t) => {
      const { callId, leg, stream } = await talkTo(carrier, "015")
      const { ends } = followed(stream)
      leg.drop()
      await untilTrue("end", () => ends.length > 0)
      t.strictSame([ends, stream.send(ourFrame), stream.mark("x")], [["unknown"], false, false])
      await hosted.hangup(hosted.ref(callId))
    })

    await t.test("when the carrier sends garbage, then the stream has failed", async (t) => {
      for (const garbage of allGarbage) {
        const { callId, leg, stream } = await talkTo(carrier, "015")
        const { ends } = followed(stream)
        leg.say(garbage)
        await untilTrue("end", () => ends.length > 0)
        t.strictSame(ends, ["failed"])
        await hosted.hangup(hosted.ref(callId))
      }
    })

    await t.test("B13: when the carrier opens another stream, then it replaces the first", async (t) => {
      const { callId, id, stream } = await talkTo(carrier, "015")
      const { ends } = followed(stream)
      carrier.callOf(callId)?.restream()
      const [, second] = await hosted.media.streams(callId, 2)
      if (second === undefined) throw new Error("no second stream")
      await untilTrue("end", () => ends.length > 0)
      t.match(ends, [/ended|replaced/])
      const before = log.audio(id).played
      await speakUntil(second, async () => log.audio(id).played > before + 20)
      t.strictSame([stream.send(ourFrame), legs(callId).length], [false, 2])
      await hosted.hangup(hosted.ref(callId))
    })
  })
}

t.test("given a request for a socket that Twilio did not sign, then it is refused", { buffered: true }, async (t) => {
  const { emulator, hosted } = await open(t, "twilio")
  const { callId } = await hosted.originate(numberOf("015"))
  await hosted.media.stream(callId)
  const url = hosted.address("media", callId)
  const { auth_token: authToken = "" } = emulator.account
  const refusal = (headers: Readonly<Record<string, string>>, to = url) =>
    new Promise<number>((resolve) => {
      const socket = new WebSocket(to, { headers })
      socket.on("unexpected-response", (request, { statusCode = 0 }) => {
        request.destroy()
        resolve(statusCode)
      })
      socket.on("open", () => resolve(101))
      socket.on("error", () => {})
    })
  t.equal(await refusal({}), 403)
  t.equal(await refusal(upgradeHeaders(url, "0".repeat(32))), 403, "signed by another account")
  t.equal(await refusal(upgradeHeaders(hosted.address("media", newCallId()), authToken)), 403, "signed for another call")
  t.equal(await refusal(upgradeHeaders(url.replace(/^ws:/, "http:"), authToken)), 101, "as some of Twilio's media servers sign")
  t.equal((await hosted.media.streams(callId)).length, 1, "then no stream has started")
})

t.test(
  "X8: given a callee who does not answer, when Telnyx' socket closes without a start, then no stream has begun",
  { buffered: true },
  async (t) => {
    const { hosted, legs } = await open(t, "telnyx")
    const { callId } = await hosted.originate(numberOf("013"))
    await hosted.line.event(callId, "HungUp")
    const [leg] = legs(callId)
    await untilTrue("close", () => leg?.isOpen() === false)
    t.strictSame(
      hosted.media.upgrades.map(({ status }) => status),
      [101]
    )
    t.strictSame(hosted.line.story(callId).includes("Answered"), false)
  }
)
