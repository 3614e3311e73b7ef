/** A provider for trying the engine out: its phones exist only in this process, and nobody's phone rings. Callee.ts says who has which number. */
import { type Adapter, defineAdapter } from "#core/provider/Adapter.ts"
import * as Credential from "#core/provider/Credential.ts"
import { openTrunk, type Watch } from "./SimulatedTrunk.ts"

const DEFAULTS = { answer_rate: "70", ring_seconds: "2", talk_seconds: "8" } as const

/** `watch` gets what phones see, which tests compare with what is reported. */
export const simulatedWith = (watch?: Watch): Adapter =>
  defineAdapter({
    manifest: {
      contract: 2,
      provider: "simulated",
      displayName: "Simulated: calls nobody",
      docsUrl: "",
      callsPerSecond: 100,
      originatesInFlight: 100,
      tells: ["ringing", "keys", "marks"]
    },
    fields: {
      answer_rate: Credential.optionalText({
        label: "Answer Rate",
        description:
          "Nobody's phone rings: all callees are simulated. How many percent of them answer; the same number always does the same, and those ending in 01 to 12 do so whatever the rate is",
        placeholder: DEFAULTS.answer_rate,
        default: DEFAULTS.answer_rate,
        pattern: "^(?:100|[1-9]?[0-9])?$"
      }),
      ring_seconds: Credential.optionalText({
        label: "Ring Seconds",
        description: "How long a simulated phone rings before somebody answers, up to 60",
        placeholder: DEFAULTS.ring_seconds,
        default: DEFAULTS.ring_seconds,
        pattern: "^(?:60|[1-5]?[0-9])?$"
      }),
      talk_seconds: Credential.optionalText({
        label: "Talk Seconds",
        description: "How long a simulated person stays after having heard the agent for the first time, up to 999",
        placeholder: DEFAULTS.talk_seconds,
        default: DEFAULTS.talk_seconds,
        pattern: "^(?:0|[1-9][0-9]{0,2})?$"
      })
    },
    connect: ({ answer_rate, ring_seconds, talk_seconds }, context) =>
      openTrunk(
        {
          // An empty field counts as one that was left out.
          answerPercent: Number(answer_rate || DEFAULTS.answer_rate),
          ringMillis: Number(ring_seconds || DEFAULTS.ring_seconds) * 1_000,
          talkMillis: Number(talk_seconds || DEFAULTS.talk_seconds) * 1_000
        },
        context,
        watch
      )
  })

export default simulatedWith()
