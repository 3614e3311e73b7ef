/** What a call opens with, by the version of its agent and by what is known of the call. */
import { Clock, Effect } from "effect"
import type { JsonObject } from "#core/agent/Agent.ts"
import { openingOf } from "#core/agent/Opening.ts"
import { render } from "#core/agent/Template.ts"
import type { PlannedOpening } from "../voice/VoiceSession.ts"

export const plannedOpening = Effect.fnUntraced(function* (definition: JsonObject, context: JsonObject) {
  const { isOverrideIgnored, recording, text } = openingOf(definition, context)
  if (isOverrideIgnored) yield* Effect.logWarning("a greeting override is invalid and was ignored")
  const greeting = text === undefined ? undefined : render(text, context, yield* Clock.currentTimeMillis)
  const opening: PlannedOpening = { greeting, recording }
  return opening
})
