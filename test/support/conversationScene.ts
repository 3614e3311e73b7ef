/** Records of conversations on a real database and disk, as in the engine. */
import { Layer } from "effect"
import { AttemptStore } from "#core/call/AttemptStore.ts"
import { WakeWaiting } from "#core/call/NumberHold.ts"
import { CampaignOwnership } from "#core/campaign/CampaignOwnership.ts"
import { OptOuts } from "#core/contact/OptOuts.ts"
import { RecentOptOuts } from "#core/contact/RecentOptOuts.ts"
import type { CallFact } from "#core/conversation/ConversationEntry.ts"
import { LiveFeedback } from "#core/run/LiveFeedback.ts"
import { callPricesLayer } from "#core/usage/ServicePrices.ts"
import { CallJournal } from "#runtime/call/CallJournal.ts"
import { CallNames } from "#runtime/call/CallNames.ts"
import { Config } from "#runtime/config/config.ts"
import { ConversationRecords } from "#runtime/conversation/ConversationRecords.ts"
import { LocalJournal } from "#runtime/journal/LocalJournal.ts"
import { Charge } from "#runtime/lock/Charge.ts"
import { CallFiles } from "#runtime/storage/CallFiles.ts"
import { Files } from "#runtime/storage/Files.ts"
import { planOf } from "./talk.ts"
import { definition } from "./talkScript.ts"

/** Needs a database. `dataDir` holds the journal and the files. */
export const recordsLayer = (dataDir: string) =>
  CallJournal.layer.pipe(
    Layer.provide(callPricesLayer),
    Layer.provideMerge(ConversationRecords.layer),
    Layer.provide([CallFiles.layer, Charge.layer]),
    Layer.provideMerge(LocalJournal.layer),
    Layer.provideMerge(
      Layer.mergeAll(CallNames.layer, CampaignOwnership.layer, Files.layerLocal(`${dataDir}/files`), LiveFeedback.layer, OptOuts.layer)
    ),
    Layer.provideMerge(Layer.merge(AttemptStore.layer.pipe(Layer.provide(Layer.succeed(WakeWaiting, () => {}))), RecentOptOuts.layer)),
    Layer.provide(Layer.orDie(Config.layerOf({ DATA_DIR: dataDir })))
  )

const { graph } = planOf(definition({ greeting: "Hello." }))
const [start, next] = [...graph.nodes.values()]
const beganAt = Date.UTC(2026, 2, 5, 15, 0)

/** Words that occur nowhere else. */
export const canaries = ["zebrawood", "quicksilver", "mulberries", "thunderstone"]

/** A conversation up to its second node; the callee opts out if `optsOut`. */
export const conversationSoFar = (optsOut: boolean): ReadonlyArray<CallFact> => {
  if (start === undefined || next === undefined) throw new Error("the agent has two nodes")
  const tool = { id: "call-1", name: "look_up", arguments: { question: canaries[2] } }
  const gathered = { mood: "merry", extracted_variables: { mood: "merry" }, nodes_visited: [start.name], call_tags: ["user_speech"] }
  return [
    { _tag: "Noted", note: { _tag: "NodeEntered", node: start, previous: undefined }, at: beganAt },
    { _tag: "Said", speaker: "assistant", text: `Hello ${canaries[0]}.`, at: beganAt + 100, until: beganAt + 900 },
    { _tag: "Waited", stage: "recognition", millis: 80, at: beganAt + 2000, processor: "scripted", model: "words" },
    { _tag: "Said", speaker: "user", text: `I like ${canaries[1]}`, at: beganAt + 1000, until: beganAt + 1900 },
    { _tag: "Noted", note: { _tag: "ToolStarted", call: tool }, at: beganAt + 2100 },
    { _tag: "Noted", note: { _tag: "ToolEnded", call: tool, result: { answer: canaries[3] } }, at: beganAt + 2200 },
    { _tag: "Waited", stage: "first_audio", millis: 240, at: beganAt + 2300, processor: "flite", model: "slt" },
    { _tag: "Used", kind: "llm", processor: "embedded", model: "rules", tokens: { promptTokens: 7, completionTokens: 5, cachedTokens: 2 } },
    { _tag: "Used", kind: "tts", processor: "flite", model: "slt", characters: 12 },
    { _tag: "Used", kind: "tts", processor: "flite", model: "slt", characters: 30 },
    { _tag: "Used", kind: "stt", processor: "scripted", model: "words", seconds: 1.5 },
    { _tag: "Remembered", gathered },
    { _tag: "Noted", note: { _tag: "NodeEntered", node: next, previous: start }, at: beganAt + 2400 },
    { _tag: "Pressed", digit: "7", at: beganAt + 3000 },
    { _tag: "CallbackAgreed", at: beganAt + 86_400_000, local: "2026-03-06T10:00:00-05:00" },
    ...(optsOut ? [{ _tag: "OptedOut" } as const] : [])
  ]
}
