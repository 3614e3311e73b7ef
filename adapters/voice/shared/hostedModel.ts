/** Opens the language model of a service: a connection for the conversation, over which each request is sent. */
import { Effect } from "effect"
import type { Egress } from "#core/egress/Egress.ts"
import type { ModelRequest, OpenLanguageModel } from "#core/model/LanguageModel.ts"
import { type Asking, answerStream, type ModelPatience } from "./AnswerStream.ts"
import type { ModelSettings } from "./modelFields.ts"
import { openConnection } from "./ServiceConnection.ts"

/** Shorter than the time for which most servers and their proxies keep an idle connection. */
const IDLE_MILLIS = 55_000

export const usualPatience: ModelPatience = { firstToken: 10_000, betweenTokens: 5_000, total: 60_000 }

interface Hosted {
  /** As in the manifest. */
  readonly provider: string
  readonly settings: ModelSettings
  readonly egress: Egress
  readonly patience: ModelPatience
  readonly ask: (request: ModelRequest) => Asking
}

export const openHosted = ({ ask, egress, patience, provider, settings }: Hosted): OpenLanguageModel =>
  Effect.map(openConnection(settings.baseUrl, egress, IDLE_MILLIS), (connection) => ({
    provider,
    model: settings.model,
    answer: (request) => answerStream({ connection, patience }, () => ask(request))
  }))
