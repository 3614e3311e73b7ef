/**
 * A conversation's state, events and actions. See `Conversation.ts`. Speech consists of lines: each has a number, and is reported as spoken,
 * interrupted or failed. Nothing here knows about audio; a text chat reports each line as spoken at once.
 */
import type { JsonObject } from "#core/Json.ts"
import type { ModelPart, ModelPurpose, ModelRequest, ModelToolCall } from "#core/model/LanguageModel.ts"
import type { RecordingName } from "#core/agent/RecordingName.ts"
import type { ConversationGraph, ConversationNode, Extraction } from "./ConversationGraph.ts"
import type { ConversationSettings } from "./ConversationSettings.ts"
import type { ConversationTool } from "./ConversationTool.ts"
import type { PersonHeard } from "./FarEnd.ts"
import type { Entry } from "./History.ts"
import type { HttpToolRequest } from "./HttpTool.ts"

/** What a conversation follows from start to end. Shared by all calls of an agent's version, except for the time zone. */
export interface ConversationPlan {
  readonly graph: ConversationGraph
  readonly tools: ReadonlyMap<string, ConversationTool>
  /** See `GraphTools`. */
  readonly unreadableTools?: ReadonlyArray<string>
  readonly settings: ConversationSettings
  /** The callee's. */
  readonly timeZone: string
  /** False if nobody recognizes what the callee says: the agent says its opening or leaves its message, and asks no model. */
  readonly canHear: boolean
}

/** Why a conversation ends; also its disposition, unless the conversation set its own. */
export type EndReason =
  | "call_duration_exceeded"
  | "end_call_tool"
  | "pipeline_error"
  | "system_cancelled"
  | "transfer_call"
  | "user_disqualified"
  | "user_hangup"
  | "user_idle_max_duration_exceeded"
  | "user_qualified"
  | "voicemail_detected"

export type MachineVerdict = "human" | "machine" | "screening" | "menu" | "unknown"

export type ToolAnswer =
  | { readonly _tag: "Response"; readonly status: number; readonly body: string }
  /** The keys have been sent. */
  | { readonly _tag: "Sent" }
  /** In words for the model, without secrets. */
  | { readonly _tag: "Failed"; readonly reason: string }

export type ConversationEvent =
  /** The callee can hear and be heard, and the context is complete. Must come first. */
  | { readonly _tag: "Started"; readonly context: JsonObject }
  /** The callee has begun to speak. `CalleeTurn` follows. */
  | { readonly _tag: "CalleeStarted" }
  /** What the callee said, once it is certain that they are done. Blank when nothing was understood, or it was only noise. */
  | { readonly _tag: "CalleeTurn"; readonly text: string; readonly waitedMillis?: number }
  /** The callee has stopped speaking, but what they said is not known yet. */
  | { readonly _tag: "CalleeWaits" }
  | { readonly _tag: "KeyPressed"; readonly digit: string }
  | { readonly _tag: "ModelSaid"; readonly generation: number; readonly part: ModelPart }
  /** `why`: the service's words, without what was said. */
  | { readonly _tag: "ModelFailed"; readonly generation: number; readonly isRetryable: boolean; readonly why?: string }
  | { readonly _tag: "ToolAnswered"; readonly callId: string; readonly answer: ToolAnswer }
  /** The callee has heard all of it. */
  | { readonly _tag: "LineSpoken"; readonly line: number }
  /** It was cut short, by the callee or by `StopSpeaking`. `heard` is what the callee heard of it. */
  | { readonly _tag: "LineInterrupted"; readonly line: number; readonly heard: string }
  /** Nothing of it can be heard. */
  | { readonly _tag: "LineFailed"; readonly line: number }
  | { readonly _tag: "TimerFired"; readonly id: number }
  | { readonly _tag: "MachineHeard"; readonly verdict: MachineVerdict }
  /** A machine is recording from now on, or never will. */
  | { readonly _tag: "MessageMoment"; readonly canSpeak: boolean }
  | { readonly _tag: "EndRequested"; readonly reason: EndReason }
  /** The callee talks to somebody else from now on, on the same call. */
  | { readonly _tag: "CalleeTransferred" }
  | { readonly _tag: "CalleeHungUp" }

export type TimerName =
  | "answer"
  | "conclude"
  | "delay"
  | "duration"
  | "filler"
  | "idle"
  | "keys"
  | "message"
  | "screening"
  | "speech"
  | "tools"
  | "turn"

/** An entry in the run's log. */
export type ConversationNote =
  | { readonly _tag: "NodeEntered"; readonly node: ConversationNode; readonly previous: ConversationNode | undefined }
  | { readonly _tag: "ToolStarted"; readonly call: ModelToolCall }
  | { readonly _tag: "ToolEnded"; readonly call: ModelToolCall; readonly result: JsonObject }
  | { readonly _tag: "ModelTrouble"; readonly trouble: "failed" | "silent" | "empty" | "loop"; readonly why?: string }
  /** The agent has a tool that its conversations cannot use. */
  | { readonly _tag: "ToolUnreadable"; readonly name: string }
  /** Nothing is known of what this node was to find out: the model failed, or did not answer in time. */
  | { readonly _tag: "ExtractionFailed"; readonly node: ConversationNode }
  /** The model gave a value that is not of the variable's type. */
  | { readonly _tag: "VariableRefused"; readonly name: string; readonly nodeId: string }
  /** The contact's own greeting is malformed: the agent opens as it does for everybody. */
  | { readonly _tag: "GreetingIgnored" }

export type ConversationAction =
  /** A piece of a line. Lines are spoken one after another. `isLast` pieces may be empty. */
  | { readonly _tag: "Say"; readonly line: number; readonly text: string; readonly isLast: boolean; readonly isInterruptible: boolean }
  /** A whole line. */
  | { readonly _tag: "Play"; readonly line: number; readonly recording: RecordingName; readonly isInterruptible: boolean }
  /** Drop all lines up to now. Report the one that was being spoken, and none of those that had not begun. */
  | { readonly _tag: "StopSpeaking" }
  | { readonly _tag: "AskModel"; readonly generation: number; readonly request: ModelRequest }
  | { readonly _tag: "DropModel"; readonly generation: number }
  | { readonly _tag: "RunTool"; readonly callId: string; readonly tool: string; readonly request: HttpToolRequest }
  | { readonly _tag: "SendDigits"; readonly callId: string; readonly digits: string }
  /** Answered like a tool if it fails; otherwise `CalleeTransferred` follows. Earlier lines must be heard first. */
  | { readonly _tag: "Transfer"; readonly callId: string; readonly destination: string; readonly timeoutSeconds: number }
  /** Replaces a timer of the same name. */
  | { readonly _tag: "SetTimer"; readonly timer: TimerName; readonly id: number; readonly afterMillis: number }
  | { readonly _tag: "ClearTimer"; readonly timer: TimerName }
  /** The agent wants to leave this message on a machine: find out when, and have it synthesized. `MessageMoment` is the answer. */
  | { readonly _tag: "AwaitMoment"; readonly message: string }
  | { readonly _tag: "Note"; readonly note: ConversationNote }
  /** Write it now, so that a kill does not lose it. */
  | { readonly _tag: "Remember"; readonly gathered: JsonObject }
  /** The callee must not be called again. Write it now. Comes at most once. */
  | { readonly _tag: "OptOut" }
  | { readonly _tag: "AgreeCallback"; readonly at: number; readonly local: string }
  /** Comes at most once. The context so far has been remembered before it. */
  | { readonly _tag: "HangUp"; readonly reason: EndReason }
  /** Last, and exactly once. */
  | { readonly _tag: "Conclude"; readonly conclusion: Conclusion }

export interface Conclusion {
  readonly disposition: string
  readonly tags: ReadonlyArray<string>
  readonly gathered: JsonObject
  /** Only a machine spoke: for the campaign, the call reached a voicemail. */
  readonly isVoicemail: boolean
  /** Undefined: there was no message to leave. */
  readonly messageFate: ConversationState["messageFate"]
}

/** A line that has not been reported yet. */
export interface Line {
  readonly id: number
  readonly kind: "speech" | "filler" | "message"
  readonly isInterruptible: boolean
  readonly isClosed: boolean
  readonly characters: number
  /** If it cannot be played, this text is said instead; empty: the model is asked. Only for an opening. */
  readonly instead: string | undefined
}

/** The completion that is awaited. */
export interface Answer {
  readonly generation: number
  readonly request: ModelRequest
  readonly isRetry: boolean
  readonly line: number | undefined
  readonly characters: number
  readonly calls: ReadonlyArray<ModelToolCall>
  /** See `ModelMessage`. */
  readonly members: JsonObject | undefined
  /** How many pieces have arrived, and how many had when the timer was last checked. */
  readonly pieces: number
  readonly seen: number
  /** The end that follows a farewell. */
  readonly end: End | undefined
}

export interface PendingCall {
  readonly call: ModelToolCall
  readonly isControl: boolean
  readonly result: JsonObject | undefined
}

/** The tool calls of one completion. The model continues once each has its result. */
export interface Batch {
  readonly id: number
  readonly calls: ReadonlyArray<PendingCall>
  /** The control that waits until this line has been heard. */
  readonly held: { readonly callId: string; readonly line: number } | undefined
  readonly timeoutMillis: number
}

export interface RunningExtraction {
  readonly generation: number
  readonly request: ModelRequest
  readonly extraction: Extraction
  readonly nodeId: string
  /** Later nodes override earlier ones, whatever order their extractions end in. */
  readonly order: number
  readonly isRetry: boolean
  readonly call: JsonObject | undefined
  readonly text: string
}

export interface End {
  readonly reason: EndReason
  /** Overrides the reason. */
  readonly disposition: string | undefined
  readonly tags: ReadonlyArray<string>
}

/**
 * `message`: waits for the moment to leave a message, or leaves it. `ending`: the last line is being spoken. `concluding`: the call is over, but
 * variables are still being extracted.
 */
type Phase = "new" | "delayed" | "live" | "message" | "ending" | "concluding" | "over"

export interface ConversationState {
  readonly phase: Phase
  readonly context: JsonObject
  readonly nodeId: string
  /** Rendered when the node is entered, and again when a variable that they show becomes known. */
  readonly instructions: string
  readonly prompt: string
  readonly visited: ReadonlyArray<string>
  readonly entries: number
  readonly history: ReadonlyArray<Entry>
  /** The number of the next line, generation, timer or batch. */
  readonly next: number
  readonly answer: Answer | undefined
  readonly batch: Batch | undefined
  readonly lines: ReadonlyArray<Line>
  /** What the callee said while tools were running. */
  readonly unanswered: ReadonlyArray<Entry>
  readonly keys: string
  readonly isCalleeSpeaking: boolean
  readonly hasCalleeSpoken: boolean
  readonly turns: number
  /** Completions since the callee last spoke. */
  readonly asks: number
  /** Answers in a row that failed. */
  readonly failures: number
  /** Lines in a row that could not be spoken. */
  readonly unspoken: number
  readonly misunderstood: number
  readonly idleChecks: number
  readonly fillers: number
  /** How long the callee had already been waiting in silence when their turn became certain. */
  readonly waitedMillis: number
  readonly extractions: ReadonlyArray<RunningExtraction>
  readonly variables: JsonObject
  readonly orders: Readonly<Record<string, number>>
  readonly callbackAt: string | undefined
  readonly verdict: MachineVerdict | undefined
  /** What has shown that a person is there; only where machines are looked for. */
  readonly person: PersonHeard | undefined
  readonly screening: "waiting" | "passed" | undefined
  readonly messageFate: "left" | "cut" | "not_left" | undefined
  readonly hasOptedOut: boolean
  readonly end: End | undefined
  /** The line after which the conversation ends. */
  readonly lastLine: number | undefined
  readonly timers: Readonly<Partial<Record<TimerName, { readonly id: number; readonly key: string }>>>
}

export const fresh = ({ graph }: ConversationPlan): ConversationState => ({
  phase: "new",
  context: {},
  nodeId: graph.start.id,
  instructions: "",
  prompt: "",
  visited: [],
  entries: 0,
  history: [],
  next: 1,
  answer: undefined,
  batch: undefined,
  lines: [],
  unanswered: [],
  keys: "",
  isCalleeSpeaking: false,
  hasCalleeSpoken: false,
  turns: 0,
  asks: 0,
  failures: 0,
  unspoken: 0,
  misunderstood: 0,
  idleChecks: 0,
  fillers: 0,
  waitedMillis: 0,
  extractions: [],
  variables: {},
  orders: {},
  callbackAt: undefined,
  verdict: undefined,
  person: undefined,
  screening: undefined,
  messageFate: undefined,
  hasOptedOut: false,
  end: undefined,
  lastLine: undefined,
  timers: {}
})

/** What a step reads besides its state. `now` is in epoch milliseconds. */
export interface Scene {
  readonly plan: ConversationPlan
  readonly now: number
}

/** The conversation's new state, and the actions to carry out, in order. */
export interface Step {
  readonly state: ConversationState
  readonly actions: ReadonlyArray<ConversationAction>
}

export const put = ({ actions, state }: Step, part: Partial<ConversationState>): Step => ({ state: { ...state, ...part }, actions })
export const act = ({ actions, state }: Step, ...more: ReadonlyArray<ConversationAction>): Step => ({
  state,
  actions: [...actions, ...more]
})

export const nodeOf = ({ plan: { graph } }: Scene, { nodeId }: ConversationState): ConversationNode =>
  graph.nodes.get(nodeId) ?? graph.start

export const purposeOf = ({ request: { purpose } }: Answer): ModelPurpose => purpose
