/** What an agent says first in a call: the greeting that the contact brings, or else what the start node has. Pure. */
import { nameOf, type RecordingName } from "./RecordingName.ts"
import { isObject, type JsonObject } from "#core/Json.ts"
import { greetingOf, startDataOf } from "./AgentGraph.ts"

interface Opening {
  /** What is played rather than spoken. */
  readonly recording: RecordingName | undefined
  /** The template of what is spoken; beside a contact's recording, in its place when that cannot be played. */
  readonly text: string | undefined
  /** The contact's greeting is none, and was passed over. */
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

/** A contact knows a recording by its public name alone. */
const overrideOf = (given: unknown): Override | undefined => {
  if (!isObject(given)) return undefined
  if (given["type"] === "text") {
    const text = filled(given["text"])
    return text === undefined ? undefined : { type: "text", text }
  }
  const recording = given["type"] === "audio" ? nameOf(filled(given["recording_id"])?.trim() ?? "") : undefined
  return recording?._tag === "RecordingId" ? { type: "audio", recording } : undefined
}

/** A node names it by its primary key, which editors write as a number or as a text; its public name is as good. */
const recordingOf = (id: unknown): RecordingName | undefined => {
  if (typeof id === "string") return nameOf(id.trim())
  return typeof id === "number" && Number.isInteger(id) && id > 0 ? nameOf(String(id)) : undefined
}
