/** What an agent says first in a call: the contact's own greeting, or else the start node's. Pure. */
import { nameOf, type RecordingName } from "./RecordingName.ts"
import { isObject, type JsonObject } from "#core/Json.ts"
import { greetingOf, startDataOf } from "./AgentGraph.ts"

interface Opening {
  /** The recording that is played instead of speech. */
  readonly recording: RecordingName | undefined
  /** The template of the spoken greeting. Beside a contact's recording, it is the fallback if that cannot be played. */
  readonly text: string | undefined
  /** The contact's greeting was malformed and ignored. */
  readonly isOverrideIgnored: boolean
}

const filled = (value: unknown): string | undefined => (typeof value === "string" && value.trim() !== "" ? value : undefined)

export const openingOf = (definition: JsonObject, context: JsonObject): Opening => {
  const start = startDataOf(definition)
  const spoken = greetingOf(definition)
  const given = context["greeting_override"]
  const override = overrideOf(given)
  if (override?.type === "text") return { recording: undefined, text: override.text, isOverrideIgnored: false }
  if (override?.type === "audio") return { recording: override.recording, text: spoken, isOverrideIgnored: false }
  const recording = start["greeting_type"] === "audio" ? recordingOf(start["greeting_recording_id"]) : undefined
  return { recording, text: spoken, isOverrideIgnored: given !== undefined && given !== null }
}

type Override = { readonly type: "text"; readonly text: string } | { readonly type: "audio"; readonly recording: RecordingName }

/** A contact may refer to a recording only by its `recording_id`, not by its number. */
const overrideOf = (given: unknown): Override | undefined => {
  if (!isObject(given)) return undefined
  if (given["type"] === "text") {
    const text = filled(given["text"])
    return text === undefined ? undefined : { type: "text", text }
  }
  const recording = given["type"] === "audio" ? nameOf(filled(given["recording_id"])?.trim() ?? "") : undefined
  return recording?._tag === "RecordingId" ? { type: "audio", recording } : undefined
}

/** A node refers to a recording by its number, which editors write as a number or as text, or by its `recording_id`. */
export const recordingOf = (id: unknown): RecordingName | undefined => {
  if (typeof id === "string") return nameOf(id.trim())
  return typeof id === "number" && Number.isInteger(id) && id > 0 ? nameOf(String(id)) : undefined
}
