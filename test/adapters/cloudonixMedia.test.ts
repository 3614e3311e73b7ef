/** What is specific to Cloudonix about the audio of calls; the rest is in `hostedMedia.test.ts`. */
import t from "tap"
import { frameMillis } from "#core/audio/Mulaw.ts"
import { isHangup, isOrder } from "#test/emulators/cloudonix/CloudonixEmulator.ts"
import { until, untilTrue } from "#test/support/until.ts"
import { open } from "./cloudonixWorld.ts"
import { numberOf } from "./Line.ts"
import { ourFrame } from "./tones.ts"

t.test("N10: given a call that has only its stream, then the stream names its session", async (t) => {
  const { asked, dials, emulator, hosted } = await open(t)
  emulator.domain.hasCallbacks = false
  emulator.server.fail({ acts: true, reply: "reset" }, isOrder)
  const { callId, to } = await hosted.originate(numberOf("015"))
  await hosted.media.stream(callId)
  const [session] = emulator.sessionsTo(to)
  t.equal(hosted.ref(callId).providerCallId, session?.token)
  t.not(session?.token, session?.callId, "which is not the SIP id")
  t.equal(await hosted.hangup(hosted.ref(callId)), undefined)
  t.match(emulator.server.requests.findLast(isHangup), { path: `/calls/acme.cloudonix.net/sessions/${session?.token}` })
  t.equal(emulator.log.of(to).at(-1)?.by, "us")
  t.strictSame([dials(to), asked(to)], [1, 1])
})

t.test("N13: given marks that are not reported, then the clock decides, and cleared audio is not heard", async (t) => {
  const { emulator, hosted } = await open(t)
  emulator.domain.hasMarks = false
  const { callId, to } = await hosted.originate(numberOf("015"))
  const stream = await hosted.media.stream(callId)
  const { token = "" } = emulator.sessionsTo(to)[0] ?? {}
  const leg = await until("leg", () => emulator.sessions.get(token)?.legs.at(-1))
  const marks: Array<string> = []
  stream.listen({ frame: () => {}, marked: (name, how) => void marks.push(`${name} ${how}`), closed: () => {} })
  const sentAt = performance.now()
  for (let frames = 0; frames < 50; frames++) stream.send(ourFrame)
  stream.mark("end")
  await untilTrue("mark", () => marks.length > 0)
  t.strictSame(marks, ["end played"])
  // Timers are a millisecond early at times.
  t.ok(performance.now() - sentAt >= 49 * frameMillis, "once everything must have been heard")
  // Its callee may be late.
  await untilTrue("end of what was sent", () => emulator.log.audio(token).played >= 50)
  for (let frames = 0; frames < 500; frames++) stream.send(ourFrame)
  stream.mark("cut")
  stream.clear()
  await untilTrue("barge-in", () => emulator.log.audio(token).flushes === 1)
  t.strictSame([marks, leg.violations], [["end played", "cut cleared"], []])
  t.ok(emulator.log.audio(token).played < 500)
})

t.test("given a stream that we close, then the call ends, since nothing follows in its document", async (t) => {
  const { emulator, hosted } = await open(t)
  const { callId, to } = await hosted.originate(numberOf("015"))
  await hosted.media.stream(callId)
  hosted.media.close(callId)
  await untilTrue("end", () => emulator.log.of(to).at(-1)?.kind === "ended")
  t.equal(await hosted.lookup(hosted.ref(callId)), "ended")
})
