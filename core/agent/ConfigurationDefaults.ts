/** The defaults of an agent's settings. Calls use `max_call_duration`; the other settings are stored for clients. */
import type { JsonObject } from "#core/Json.ts"
import { maxCallDurationSeconds } from "./AgentGraph.ts"

export const configurationDefaults: JsonObject = {
  ambient_noise_configuration: { enabled: false, volume: 0.3 },
  max_call_duration: maxCallDurationSeconds({}),
  max_user_idle_timeout: 10,
  smart_turn_stop_secs: 2,
  turn_start_strategy: "default",
  turn_start_min_words: 3,
  provisional_vad_pause_secs: 1.5,
  turn_stop_strategy: "transcription",
  dictionary: "",
  context_compaction_enabled: false,
  text_chat_inactivity_timeout_seconds: 1800,
  external_pbx_field_mappings: [],
  external_pbx_lead_headers: []
}
