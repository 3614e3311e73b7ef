/** What an agent opens with, depending on its start node and its contact. */
import t from "tap"
import { openingOf } from "#core/agent/Opening.ts"
import { RecordingId } from "#core/Id.ts"

const definition = (data: Readonly<Record<string, unknown>>) => ({ nodes: [{ id: "s", type: "startCall", data }], edges: [] })
const spoken = definition({ greeting: "Hello" })
const silent = { recording: undefined, text: undefined, isOverrideIgnored: false }
const opens = (data: Readonly<Record<string, unknown>>, expected: object, name: string) =>
  t.strictSame(openingOf(definition(data), {}), { ...silent, ...expected }, name)
const id = (value: number) => ({ _tag: "Id", id: RecordingId.make(value) })
const named = (recordingId: string) => ({ _tag: "RecordingId", recordingId })

opens({ greeting: "Hello" }, { text: "Hello" }, "a text")
opens(
  { greeting: "Hello", greeting_type: "text", greeting_recording_id: "7" },
  { text: "Hello" },
  "a text beside a recording that is turned off"
)
opens({ greeting: "  " }, {}, "a blank text")
opens({ greeting: 5 }, {}, "a text that is none")
opens({ greeting_type: "audio", greeting_recording_id: "7" }, { recording: id(7) }, "a recording, its id a text")
opens({ greeting_type: "audio", greeting_recording_id: 7 }, { recording: id(7) }, "a recording, its id a number")
opens(
  { greeting_type: "audio", greeting_recording_id: 7, greeting: "Hello" },
  { recording: id(7) },
  "a recording beside a text that is hidden"
)
for (const bad of [undefined, null, "", "9".repeat(12), 1.5, -1, {}, [7], true, "a b"]) {
  opens({ greeting_type: "audio", greeting_recording_id: bad, greeting: "Hello" }, {}, `no id: ${JSON.stringify(bad)}`)
}
t.strictSame(openingOf({}, {}), silent, "no node")
t.strictSame(openingOf({ nodes: [null, 5, { type: "startCall" }] }, {}), silent, "a node without data")

const brings = (greeting_override: unknown, expected: object, name: string) =>
  t.strictSame(openingOf(spoken, { greeting_override }), { ...silent, ...expected }, name)
brings({ type: "text", text: "Hi {{name}}" }, { text: "Hi {{name}}" }, "the contact's text")
brings({ type: "audio", recording_id: "ra" }, { recording: named("ra"), text: "Hello" }, "the contact's recording")
brings(undefined, { text: "Hello" }, "nothing")
brings(null, { text: "Hello" }, "null")
const wrong = [
  "Hi",
  7,
  [],
  {},
  { type: "text" },
  { type: "text", text: " " },
  { type: "text", text: 5 },
  { type: "audio" },
  { type: "audio", recording_id: "7" },
  { type: "audio", recording_id: 7 },
  { type: "audio", recording_id: "../etc" },
  { type: "video", text: "Hi" },
  { text: "Hi" }
]
for (const bad of wrong) brings(bad, { text: "Hello", isOverrideIgnored: true }, `none: ${JSON.stringify(bad)}`)
t.strictSame(
  openingOf(definition({ greeting_type: "audio", greeting_recording_id: 7 }), { greeting_override: { type: "text", text: "Hi" } }),
  { ...silent, text: "Hi" },
  "the contact's text before the agent's recording"
)
