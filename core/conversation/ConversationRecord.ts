/**
 * The record of one conversation: turns reports about it into entries for its run. Pure except for its own memory, which does not grow with the
 * call. Without a transcript, no entry contains anything that was said, nor the arguments and results of tools; gathered values are included.
 */
import type { ConversationNode } from "#core/agent/conversation/ConversationGraph.ts"
import type { ConversationNote } from "#core/agent/conversation/ConversationState.ts"
import { withKey } from "#core/call/Dtmf.ts"
import type { JsonObject } from "#core/Json.ts"
import { jsonSize } from "#core/jsonSize.ts"
import type { CallFact, ConversationEntry, ConversationUsage, LatencyStage } from "./ConversationEntry.ts"
import { problemPayload, type RunProblem } from "#core/run/RunProblem.ts"
import type { FeedbackEvent } from "#core/run/RunRecord.ts"
import { serviceKey, tokensOf } from "#core/run/serviceUsage.ts"

/** A conversation that turns in circles must not fill the database. */
const mostEvents = 4000
const longestText = 8000
const longestValue = 16_384

interface RecordOptions {
  readonly keepsTranscript: boolean
  /** The callee's. */
  readonly timeZone: string
  /** An earlier process has had the call: its agent opens again, and what had been gathered and used before stays as it is. */
  readonly isContinued?: boolean
}

const iso = (at: number): string => new Date(at).toISOString()
const oneLine = (text: string): string => text.slice(0, longestText).replace(/\s+/g, " ").trim()

const troubles = {
  failed: "The language model failed",
  silent: "The language model did not answer in time",
  empty: "The language model had nothing to say",
  loop: "The language model was asked too often in one turn"
} as const

const problemOf = ({ trouble, why }: Extract<ConversationNote, { readonly _tag: "ModelTrouble" }>): string =>
  why === undefined ? troubles[trouble] : `${troubles[trouble]}: ${oneLine(why)}`

const tagsIn = ({ call_tags: tags }: JsonObject): ReadonlyArray<unknown> => (Array.isArray(tags) ? tags : [])

/** What is known as soon as an opt-out is heard. The conversation reports the same with its next gathered values. */
export const withOptOut = (gathered: JsonObject): JsonObject => ({
  ...gathered,
  call_disposition: "user_disqualified",
  mapped_call_disposition: "user_disqualified",
  call_tags: [...new Set([...tagsIn(gathered), "user_disqualified", "opted_out"])]
})

type Entries = ReadonlyArray<ConversationEntry>

export class ConversationRecord {
  readonly #options: RecordOptions
  #events = 0
  #turn = 0
  #node: Pick<FeedbackEvent, "node_id" | "node_name"> = {}
  /** When the first node was entered: the agent has said nothing before. */
  #enteredAt = Number.NEGATIVE_INFINITY
  #digits = ""
  #isCallbackAgreed = false
  #gathered: JsonObject = {}
  #usage: ConversationUsage = { llm: {}, tts: {}, stt: {} }

  constructor(options: RecordOptions) {
    this.#options = options
  }

  /** Must be called in order. Returns the entries to store. */
  take(fact: CallFact): Entries {
    const entries = this.#entriesOf(fact)
    return this.#options.isContinued === true
      ? entries.filter((entry) => entry.kind === "event" && entry.content.type !== "rtf-node-transition")
      : entries
  }

  #entriesOf(fact: CallFact): Entries {
    switch (fact._tag) {
      case "Noted":
        return this.#note(fact.note, fact.at)
      case "Remembered":
        return this.#gather(fact.gathered)
      case "OptedOut":
        return this.#gather(withOptOut(this.#gathered))
      case "CallbackAgreed": {
        this.#isCallbackAgreed = true
        const callback = { callback_at: fact.local, time_zone: this.#options.timeZone }
        return [...this.#gather({ ...this.#gathered, callback_at: fact.local }), { kind: "callback", content: callback }]
      }
      case "Said":
        return this.#say(fact)
      case "Pressed": {
        this.#digits = withKey(this.#digits, fact.digit)
        const said = this.#say({ _tag: "Said", speaker: "user", text: `pressed ${fact.digit}`, at: fact.at, until: fact.at })
        return [...said, ...this.#gather(this.#gathered)]
      }
      case "Greeted":
        return this.#event("rtf-stage-metric", ttfbOf(fact), fact.at)
      case "Troubled":
        return this.#problem(fact, fact.at)
      case "Waited":
        return this.#event(waitTypes[fact.stage] ?? "rtf-stage-metric", latencyOf(fact), fact.at)
      case "Used":
        this.#usage = withUse(this.#usage, fact)
        return [{ kind: "usage", content: this.#usage }]
    }
  }

  #event(type: FeedbackEvent["type"], payload: JsonObject, at: number): Entries {
    if (++this.#events > mostEvents) return []
    return [{ kind: "event", content: { type, payload, timestamp: iso(at), turn: this.#turn, ...this.#node } }]
  }

  #problem(problem: Omit<RunProblem, "at">, at: number): Entries {
    return this.#event("rtf-pipeline-error", problemPayload(problem), at)
  }

  #gather(gathered: JsonObject): Entries {
    this.#gathered = {
      ...gathered,
      ...(this.#digits === "" ? {} : { dtmf_digits: this.#digits }),
      ...(this.#isCallbackAgreed ? { callback_time_zone: this.#options.timeZone } : {})
    }
    return [{ kind: "gathered", content: this.#gathered }]
  }

  #say({ at, speaker, text, until }: Extract<CallFact, { readonly _tag: "Said" }>): Entries {
    const line = oneLine(text)
    if (line === "") return []
    if (speaker === "user") this.#turn++
    if (!this.#options.keepsTranscript) return []
    // The clock of the line and that of the conversation are rounded apart.
    const from = speaker === "user" ? at : Math.max(at, this.#enteredAt)
    const payload = { text: line, timestamp: iso(from), end_timestamp: iso(until) }
    if (speaker === "user") return this.#event("rtf-user-transcription", { ...payload, final: true }, from)
    return this.#event("rtf-bot-text", payload, from)
  }

  #note(noted: ConversationNote, at: number): Entries {
    const { keepsTranscript } = this.#options
    switch (noted._tag) {
      case "NodeEntered":
        this.#node = { node_id: noted.node.id, node_name: noted.node.name }
        if (noted.previous === undefined) this.#enteredAt = at
        return this.#event("rtf-node-transition", transitionOf(noted), at)
      case "ToolStarted": {
        const { arguments: given, id, name } = noted.call
        const isShown = keepsTranscript && jsonSize(given, longestValue) <= longestValue
        return this.#event(
          "rtf-function-call-start",
          { function_name: name, tool_call_id: id, ...(isShown ? { arguments: given } : {}) },
          at
        )
      }
      case "ToolEnded": {
        const { id, name } = noted.call
        const result = keepsTranscript ? { result: JSON.stringify(noted.result).slice(0, longestValue) } : {}
        return this.#event("rtf-function-call-end", { function_name: name, tool_call_id: id, ...result }, at)
      }
      case "ModelTrouble":
        return this.#problem({ error: problemOf(noted), processor: "llm" }, at)
      case "GreetingIgnored":
        return this.#problem({ error: "The contact's greeting is malformed and was ignored", processor: "greeting" }, at)
      case "ToolUnreadable": {
        const error = `The tool ${noted.name} cannot be opened with the key of this installation`
        return this.#problem({ error, processor: "tools" }, at)
      }
      case "ExtractionFailed":
        return this.#event("rtf-pipeline-error", extractionFailure(noted.node), at)
      case "VariableRefused": {
        const error = `A value for ${noted.name} is not of the variable's type`
        return this.#problem({ error, processor: "extraction" }, at)
      }
    }
  }
}

/** The payload of an `rtf-pipeline-error`. */
export const extractionFailure = ({ id, name }: Pick<ConversationNode, "id" | "name">): JsonObject =>
  problemPayload({ error: `The variables of ${name === "" ? id : name} could not be extracted`, processor: "extraction" })

export const transitionOf = ({ node, previous }: Extract<ConversationNote, { readonly _tag: "NodeEntered" }>): JsonObject => ({
  node_id: node.id,
  node_name: node.name,
  previous_node_id: previous?.id ?? null,
  previous_node_name: previous?.name ?? null,
  allow_interrupt: node.allowsInterruption
})

/** Clients of the existing product take `rtf-ttfb-metric` for the language model's: its pages show it as the delay of the next line. */
const waitTypes: Partial<Record<LatencyStage, FeedbackEvent["type"]>> = {
  first_audio: "rtf-latency-measured",
  first_token: "rtf-ttfb-metric"
}

const ttfbOf = ({ millis, model, processor }: Extract<CallFact, { readonly _tag: "Greeted" | "Waited" }>): JsonObject => ({
  ttfb_seconds: millis / 1000,
  processor,
  model
})

const latencyOf = (waited: Extract<CallFact, { readonly _tag: "Waited" }>): JsonObject =>
  waited.stage === "first_audio" ? { latency_seconds: waited.millis / 1000 } : { ...ttfbOf(waited), stage: waited.stage }

const withUse = (usage: ConversationUsage, used: Extract<CallFact, { readonly _tag: "Used" }>): ConversationUsage => {
  const key = serviceKey(used.processor, used.model)
  switch (used.kind) {
    case "llm":
      return { ...usage, llm: { ...usage.llm, [key]: tokensOf(used.tokens) } }
    case "tts":
      return { ...usage, tts: { ...usage.tts, [key]: used.characters } }
    case "stt":
      return { ...usage, stt: { ...usage.stt, [key]: used.seconds } }
  }
}
