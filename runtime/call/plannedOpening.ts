/** A call's opening, according to its agent's version and what is known about the call. */
import { Clock, Effect } from "effect"
import type { JsonObject } from "#core/Json.ts"
import { openingOf } from "#core/agent/Opening.ts"
import { render } from "#core/agent/Template.ts"
import type { PlannedOpening } from "#runtime/voice/VoiceSession.ts"

/** `message` is the template of the message left on an answering machine. */
export const plannedOpening = Effect.fnUntraced(function* (definition: JsonObject, context: JsonObject, message: string | undefined) {
  const { isOverrideIgnored, recording, text } = openingOf(definition, context)
  if (isOverrideIgnored) yield* Effect.logWarning("a greeting override is invalid and was ignored")
  const now = yield* Clock.currentTimeMillis
  const rendered = (template: string | undefined) => (template === undefined ? undefined : render(template, context, now))
  const opening: PlannedOpening = { greeting: rendered(text), message: rendered(message), recording }
  return opening
})
