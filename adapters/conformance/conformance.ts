/**
 * What every adapter must do, as named cases that any test runner can run: `for (const { name, run } of conformance(...)) test(name, run)`.
 * Cases check the carrier's own log and the events that reach the engine's side, never how the adapter works.
 */
import type { Adapter } from "#core/provider/Adapter.ts"
import { type Case, caseOf } from "./Case.ts"
import { answers } from "./answers.ts"
import { audio } from "./audio.ts"
import { callbackOrders } from "./callbackOrders.ts"
import { forgeries } from "./forgeries.ts"
import { hangingUp } from "./hangingUp.ts"
import { keys } from "./keys.ts"
import { lostReplies } from "./lostReplies.ts"
import { originating } from "./originating.ts"
import { outcomes } from "./outcomes.ts"
import { refusals } from "./refusals.ts"
import { restarts } from "./restarts.ts"
import { transfers } from "./transfers.ts"
import type { World } from "./World.ts"

export type { Case, Verdict } from "./Case.ts"
export { languageModelConformance, type ModelWorld, type ScriptedAnswer } from "./languageModels.ts"
export { recognizerConformance, type RecognizerWorld } from "./recognizers.ts"
export { voiceConformance, type VoiceWorld } from "./voices.ts"
export { type Ability, type Callee, type CarrierReply, type Config, numbersEnding, type Phone, type World } from "./World.ts"

interface Options {
  /** How long a case waits for anything that must happen. A long time costs nothing when it happens soon, so be generous on a busy machine. */
  readonly patienceMillis?: number
}

const rules = [
  originating,
  answers,
  outcomes,
  callbackOrders,
  forgeries,
  lostReplies,
  refusals,
  restarts,
  audio,
  keys,
  transfers,
  hangingUp
].flat()

const PATIENCE_MILLIS = 120_000

export const conformance = (
  adapter: Adapter,
  openWorld: () => Promise<World>,
  { patienceMillis = PATIENCE_MILLIS }: Options = {}
): ReadonlyArray<Case> => rules.map((rule) => caseOf(rule, { adapter, openWorld, patienceMillis }))
