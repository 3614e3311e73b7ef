/** What is concluded from the events of calls and the lists of channels, without an Asterisk. */
import t, { type Test } from "tap"
import { AriCalls } from "#adapters/ari/AriCalls.ts"
import { type AriEvent, type ChannelEvent, decode } from "#adapters/ari/AriEvents.ts"
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { newCallId } from "./Line.ts"

const decodeText = (text: string): AriEvent | undefined => decode(Buffer.from(text))

t.test("given events from the wire", async (t) => {
  const channel = { id: "c", state: "Up" }
  const check = (event: unknown, expected: AriEvent | undefined) =>
    t.strictSame(decodeText(JSON.stringify(event)), expected, JSON.stringify(event))
  check({ type: "Dial", peer: channel, dialstatus: "RINGING" }, { type: "Dial", id: "c", status: "RINGING" })
  check({ type: "StasisStart", channel, args: ["call"] }, { type: "StasisStart", id: "c", args: ["call"] })
  check({ type: "ChannelDestroyed", channel, cause: 17, tech_cause: 486 }, { type: "ChannelDestroyed", id: "c", cause: 17, sipStatus: 486 })
  check(
    { type: "ChannelHangupRequest", channel, cause: 32, soft: true },
    { type: "ChannelHangupRequest", id: "c", cause: 32, sipStatus: undefined, soft: true }
  )
  check({ type: "ChannelDtmfReceived", channel, digit: "#" }, { type: "ChannelDtmfReceived", id: "c", digit: "#" })
  // Unknown fields are ignored, and the time that an event names is understood.
  const timestamp = "2026-01-01T12:00:00.123+0200"
  const at = Date.UTC(2026, 0, 1, 10, 0, 0, 123)
  check({ type: "StasisStart", channel, timestamp, asterisk_id: "y", replace_channel: { id: "z" } }, { type: "StasisStart", id: "c", at })
  check(
    { type: "ChannelDestroyed", channel, cause: 16, cause_txt: "Normal Clearing", timestamp },
    { type: "ChannelDestroyed", id: "c", cause: 16, sipStatus: undefined, at }
  )
  check({ type: "ApplicationReplaced", application: "a" }, { type: "ApplicationReplaced", id: "a" })
  t.test("when they are unknown or hostile, then they are ignored", async (t) => {
    const nothing = (text: string) => t.equal(decodeText(text), undefined, text.slice(0, 60))
    nothing("")
    nothing("null")
    nothing("[]")
    nothing("{\u0000")
    nothing("[".repeat(100_000))
    nothing(JSON.stringify({ type: "PeerStatusChange", channel }))
    nothing(JSON.stringify({ type: "StasisStart", channel: "c" }))
    nothing(JSON.stringify({ type: "StasisStart", channel: { id: 7 } }))
    nothing(JSON.stringify({ type: "ChannelDtmfReceived", channel, digit: "12" }))
    nothing('{"type":"StasisStart","__proto__":{"channel":{"id":"c"}}}')
    t.strictSame(decodeText('{"type":"ChannelDestroyed","channel":{"id":"c"},"cause":"x"}'), {
      type: "ChannelDestroyed",
      id: "c",
      cause: 0,
      sipStatus: undefined
    })
  })
})

interface Happening {
  /** By default, nobody follows the call yet. */
  readonly follows?: boolean
  readonly afterMillis?: number
  /** The cause of our own hang-up. */
  readonly asked?: HangupCause
  readonly last?: (calls: AriCalls) => unknown
}
const id = newCallId()
/** What is told about a call that has these events. */
const toldOf = (events: ReadonlyArray<ChannelEvent>, { afterMillis = 0, asked, follows = true, last }: Happening = {}) => {
  const told: Array<TrunkEvent> = []
  let now = 0
  const calls = new AriCalls(
    (_, event) => told.push(event),
    () => now
  )
  if (follows) calls.add(id, 30, "pending").asked = asked
  now = afterMillis
  for (const event of events) calls.handle(event)
  last?.(calls)
  return { calls, told }
}
const destroyed = (cause: number, sipStatus?: number): ChannelEvent => ({ type: "ChannelDestroyed", id, cause, sipStatus })
const requested = (cause: number, sipStatus?: number, soft = false): ChannelEvent => ({
  type: "ChannelHangupRequest",
  id,
  cause,
  sipStatus,
  soft
})
const ringing: ChannelEvent = { type: "Dial", id, status: "RINGING" }
const answered: ChannelEvent = { type: "StasisStart", id }
/** Checks the end that is told, and returns how many calls are left. */
const leftAfter = (
  t: Test,
  name: string,
  expected: HangupCause,
  events: ReadonlyArray<ChannelEvent>,
  happening: Happening = {}
): number => {
  const { calls, told } = toldOf(events, happening)
  const ends = told.filter(({ _tag }) => _tag === "HungUp")
  t.strictSame(ends, [{ _tag: "HungUp", cause: expected }], name)
  return calls.size
}

t.test("A4: given a call, when its channel is destroyed, then the cause follows from the earlier events", async (t) => {
  const check = (name: string, cause: HangupCause, events: ReadonlyArray<ChannelEvent>, happening?: Happening) =>
    t.equal(leftAfter(t, name, cause, events, happening), 0)
  check("busy", "user_busy", [requested(17, 486), destroyed(17, 486)])
  check("no answer", "no_answer", [requested(19, 480), destroyed(19, 480)])
  check("no such number", "unallocated_number", [requested(1), destroyed(1)])
  check("no circuit", "congestion", [requested(34), destroyed(34)])
  check("a goodbye by the far end, unanswered", "normal_clearing", [requested(16), destroyed(16)])
  check("our time-out", "ring_timeout", [destroyed(19, 480)], { afterMillis: 30_000 })
  check("our time-out, before 22.8", "ring_timeout", [destroyed(0)], { afterMillis: 30_000 })
  check("no reason, early", "unknown", [destroyed(0)], { afterMillis: 2_000 })
  check("rejected, 603", "call_rejected", [requested(21, 603), destroyed(21, 603)])
  check("rejected, 403", "facility_rejected", [requested(21, 403), destroyed(21, 403)])
  check("a goodbye without a reason", "normal_clearing", [answered, requested(0), destroyed(0)], { afterMillis: 60_000 })
  check("the line breaks", "network_out_of_order", [answered, requested(38), destroyed(38)])
  check("Asterisk is stopped", "trunk_lost", [answered, requested(4, undefined, true), destroyed(0)])
  check("we hang up", "agent_hangup", [answered, requested(32, undefined, true), destroyed(16)], { asked: "agent_hangup" })
  check("they hung up before we did", "normal_clearing", [answered, requested(16), destroyed(16)], { asked: "agent_hangup" })
  check("twice, and the answer afterwards", "user_busy", [destroyed(17), destroyed(17), answered])
})

t.test("given a call whose end was missed, when the call is missing, then the cause follows from the earlier events", async (t) => {
  const check = (name: string, cause: HangupCause, events: ReadonlyArray<ChannelEvent>, { last, ...more }: Happening = {}) =>
    leftAfter(t, name, cause, events, { ...more, last: (calls) => [last?.(calls), calls.absent(id), calls.absent(id)] })
  check("answered", "normal_clearing", [ringing, answered])
  check("answered, and Asterisk was restarted", "trunk_lost", [answered], { last: (calls) => calls.outlive() })
  check("answered, and Asterisk was being stopped", "trunk_lost", [answered, requested(4, undefined, true)])
  check("answered, and the far end had said why", "network_out_of_order", [answered, requested(38)])
  check("answered, and we had asked for the end", "machine_detected", [answered], { asked: "machine_detected" })
  check("not answered as far as we know", "trunk_lost", [ringing])
  check("refused by the far end", "user_busy", [ringing, requested(17)])
})

t.test("given events that come after the end, or of channels that are no calls", async (t) => {
  const end = { ...destroyed(16), at: 2_000 }
  const answer = { ...answered, at: 1_000 }
  const hungUp = { _tag: "HungUp", cause: "normal_clearing", at: 2_000 }
  const told = [{ _tag: "Answered", at: 1_000 }]
  t.strictSame(toldOf([end, answer, answer, end]).told, [hungUp, ...told])
  t.strictSame(toldOf([{ ...ringing, status: "" }, answer, end], { follows: false }).told, [{ _tag: "Placed" }, ...told, hungUp])
  for (const other of ["media-b9a1d3f0-8d5a-4c12-9c39-2f2f5d1b6a11", "1763.12", `${id};2`, ""])
    t.strictSame(toldOf([{ ...answer, id: other }], { follows: false }).told, [], other)
})

t.test("given a list of channels", async (t) => {
  const check = (
    name: string,
    expected: ReadonlyArray<string>,
    [state, inStasis, mayBeMissed]: readonly [state: string, inStasis: boolean, mayBeMissed: boolean],
    { events = [], follows = true }: { readonly events?: ReadonlyArray<ChannelEvent>; readonly follows?: boolean } = {}
  ) => {
    const { told } = toldOf(events, { follows, last: (calls) => calls.present(id, { state, inStasis }, mayBeMissed) })
    const tags = told.map(({ _tag }) => _tag)
    t.strictSame(tags, expected, name)
  }
  check("nobody follows it", ["Answered"], ["Up", true, false], { follows: false })
  check("nobody follows it, not answered", ["Placed"], ["Down", false, false], { follows: false })
  check("its events come", [], ["Up", true, false])
  check("its events may have been missed", ["Answered"], ["Up", true, true])
  check("it is answered, and its StasisStart still to come", [], ["Up", false, true])
  check("it has ended since the list was made", ["HungUp"], ["Up", true, true], { events: [destroyed(16)] })
})
