/** What the demo says about a call that went otherwise than expected. */
import t from "tap"
import type { Campaign, Run } from "./Api.ts"
import { contactsOf } from "./Callees.ts"
import type { FarEnd } from "./FarEnd.ts"
import { summarize } from "./Summary.ts"

const [contact] = contactsOf("emulator", 40).filter(({ kind }) => kind.title === "is an answering machine")
if (contact === undefined) throw new Error("no answering machine")

const now = "2026-11-27T10:00:00.000Z"
const summaryOf = (gathered: object, callees: number, service = 20) =>
  summarize({
    contacts: [contact],
    // Of these three, only the members that are read.
    campaign: { total_queued_count: 1, total_rows: 1, executed_count: 1, processed_rows: 1 } as Campaign,
    farEnd: { mode: "emulator", name: "", provider: "ari" } as FarEnd,
    runs: [
      {
        created_at: now,
        gathered_context: gathered,
        initial_context: { phone_number: contact.number },
        logs: { realtime_feedback_events: [{ type: "rtf-stage-metric", payload: { ttfb_seconds: 2.3 } }] },
        recording_url: "a.wav",
        transcript_url: "a.txt"
      } as unknown as Run
    ],
    conversations: undefined,
    progress: { completed: 1, failed: 0 },
    seen: [{ number: contact.number, dialedAt: Date.parse(now), endedAt: Date.parse(now) + 9000, hasAudio: true }],
    warnings: ["something"],
    stallMillis: { callees, service },
    slots: 10,
    rate: 40,
    seconds: 60
  }).problems

const missed = { answered_by: "human", call_disposition: "call_duration_exceeded", hangup_cause: "duration_exceeded" }

t.test("given a machine that was taken for a person, then it says so, and what may explain it", async (t) => {
  const [problem, ...rest] = summaryOf(missed, 3456)
  t.match(problem, /expected voicemail_detected .*, got call_duration_exceeded .*, taken for: human, first word after 2300 ms\.$/)
  t.strictSame(rest, ["The service warned: something", "The callees' process stood still for up to 3456 ms."])
  t.strictSame(summaryOf(missed, 20, 789).slice(2), ["The service's process stood still for up to 789 ms."])
  t.equal(summaryOf(missed, 20).length, 2, "a short standstill explains nothing")
})

t.test("given a machine that was found, then there is nothing to say", async (t) => {
  const found = { answered_by: "machine", call_disposition: "voicemail_detected", hangup_cause: "machine_detected" }
  t.strictSame(summaryOf(found, 3456), [])
})
