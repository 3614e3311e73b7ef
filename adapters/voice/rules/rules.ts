/** End-of-turn detection by rules, as it is registered: they judge by the words whether a callee has finished. */
import { Effect } from "effect"
import { defineEndOfTurn } from "#core/model/EndOfTurnProvider.ts"
import { endOfTurnRules } from "#core/voice/EndOfTurnRules.ts"

export const rules = defineEndOfTurn({
  manifest: {
    contract: 1,
    kind: "end_of_turn",
    provider: "rules",
    title: "Rules",
    description: "Goes by the words that were said, offline and without a key. English; in other languages, by pauses alone."
  },
  fields: {},
  open: () => Effect.succeed(endOfTurnRules)
})
