/** An agent's settings apart from its graph. Keys that the engine or its clients know must have the right type; others are kept unchanged. */
import { Schema } from "effect"
import { ConfigurationProblem } from "#core/Problem.ts"
import { isObject, type JsonObject } from "#core/Json.ts"
import { below, boolean, closed, here, integer, isNull, list, number, object, oneOf, record, type Rule, text } from "#core/Rule.ts"
import { longestMessage, machineActions } from "./VoicemailDetection.ts"

export class AgentConfigurationsRefused extends Schema.TaggedError<AgentConfigurationsRefused>()("AgentConfigurationsRefused", {
  problems: Schema.Array(ConfigurationProblem)
}) {}

const destinationField = /^[A-Za-z][A-Za-z0-9_]{0,63}$/
const anyObject = object({})

const detection = object({ enabled: boolean, action: oneOf(...machineActions), message: text(longestMessage) })
const isBlank = (value: unknown) => isNull(value) || (typeof value === "string" && value.trim() === "")
const voicemailDetection: Rule = (value) => {
  const isMute = isObject(value) && value["action"] === "leave_message" && isBlank(value["message"])
  const mute = isMute ? below("message", here("Field required: what is said to the machine when `action` is 'leave_message'")) : []
  return [...detection(value), ...mute]
}

export const longestStaticLine = 500
const staticLine = text(longestStaticLine)
/** Only ours, so an unknown name can only be misspelled. */
const staticLines = closed({ filler: staticLine, reprompt: staticLine, check_in: staticLine, goodbye: staticLine, apology: staticLine })

const longestPhrase = 200
const mostPhrases = 100
/** What the built-in model reads; other members are kept for clients. */
const embedded = object({
  nodes: record(object({ say: text(longestMessage) })),
  edges: record(object({ phrases: list(mostPhrases, text(longestPhrase, /\S/)), dtmf: text(8, /^[0-9*#A-D]+$/), confirm: boolean })),
  fallback_edge: text(),
  introduction: text(longestMessage)
})

/** No call may last longer, whatever its agent asks for. */
export const longestCallSeconds = 1200

const checkSettings = object({
  max_call_duration: integer(1, longestCallSeconds),
  max_user_idle_timeout: number(),
  smart_turn_stop_secs: number(),
  turn_start_strategy: oneOf("default", "min_words", "provisional_vad"),
  turn_start_min_words: integer(),
  provisional_vad_pause_secs: number(),
  turn_stop_strategy: oneOf("transcription", "turn_analyzer"),
  dictionary: text(),
  context_compaction_enabled: boolean,
  text_chat_inactivity_timeout_seconds: integer(60, 10_500),
  ambient_noise_configuration: object({ enabled: boolean, volume: number(), storage_key: text(), original_filename: text() }),
  external_pbx_field_mappings: list(
    100,
    object({ context_path: text(255, /./), destination_field: text(64, destinationField) }, ["context_path", "destination_field"])
  ),
  external_pbx_lead_headers: list(50, text(64, destinationField)),
  voicemail_detection: voicemailDetection,
  transcript_configuration: anyObject,
  static_lines: staticLines,
  send_dtmf: boolean,
  embedded,
  model_overrides: object({ llm: anyObject, tts: anyObject, stt: anyObject, realtime: anyObject, is_realtime: boolean })
})

/** Everything that is wrong; empty when the settings can be stored. */
export const problemsOf = (configurations: JsonObject): ReadonlyArray<ConfigurationProblem> => checkSettings(configurations)

/** The settings as they are stored: null means the same as absent. */
export const sparse = (configurations: JsonObject): JsonObject =>
  Object.values(configurations).includes(null)
    ? Object.fromEntries(Object.entries(configurations).filter(([, value]) => value !== null))
    : configurations
