/** What a page and the engine say on the websocket of a call from a browser, as the existing product's pages do. */
import Type, { type Static, type TObject } from "typebox"
import { longestOffer } from "#core/call/BrowserOffer.ts"
import type { RunId } from "#core/Id.ts"
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import type { FeedbackEvent } from "#core/run/RunRecord.ts"
import { id, nullable, object, optional } from "#gateway/request/Field.ts"
import { parseAs } from "#gateway/request/json.ts"
import { read } from "#gateway/request/validation.ts"
import type { Violation } from "#gateway/request/Violation.ts"

const longestId = 128
const mostValues = 2000

const Offer = Type.Object({
  sdp: Type.String({ maxLength: longestOffer }),
  pc_id: optional(Type.String({ maxLength: longestId })),
  call_context_vars: optional(object("What the agent knows from the start, over its template context variables."))
})
const Candidate = Type.Object({
  candidate: nullable(
    Type.Object({
      candidate: Type.String({ maxLength: 1024 }),
      sdpMid: optional(Type.String({ maxLength: 64 })),
      sdpMLineIndex: optional(Type.Integer({ minimum: 0, maximum: 64 }))
    })
  )
})

export type UpFrame =
  | { readonly type: "offer" | "renegotiate"; readonly payload: Static<typeof Offer> }
  | { readonly type: "ice-candidate"; readonly payload: Static<typeof Candidate> }

const schemas: { readonly [Type in UpFrame["type"]]: TObject } = { offer: Offer, renegotiate: Offer, "ice-candidate": Candidate }

const isFrame = (value: unknown): value is { readonly type: UpFrame["type"]; readonly payload?: unknown } =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string" && Object.hasOwn(schemas, value.type)

/** Undefined for anything else. */
export const readFrame = (message: Uint8Array): UpFrame | undefined => {
  const parsed = parseAs("application/json", message, { maxValues: mostValues })
  if (parsed._tag !== "Value" || !isFrame(parsed.value)) return undefined
  const found: Array<Violation> = []
  const payload = read(schemas[parsed.value.type], parsed.value.payload, [], found)
  // `payload` was validated against the schema of this type.
  return found.length > 0 ? undefined : ({ type: parsed.value.type, payload } as UpFrame)
}

const errorTypes = [
  "workflow_run_already_completed",
  "workflow_run_already_active",
  "concurrency_limit_exceeded",
  "quota_exceeded"
] as const

const Answer = Type.Object({
  type: Type.Literal("answer"),
  payload: Type.Object({ sdp: Type.String(), type: Type.Literal("answer"), pc_id: Type.String() })
})
const CallFault = Type.Object({
  type: Type.Literal("error"),
  payload: Type.Object({ message: Type.String(), error_type: Type.Optional(Type.Enum([...errorTypes])) })
})
const CallEnded = Type.Object({
  type: Type.Literal("call-ended"),
  payload: Type.Object({
    workflow_run_id: id<RunId>(),
    pc_id: Type.String(),
    reason: Type.String({ description: "The hangup cause." })
  })
})
const Feedback = Type.Object({
  type: Type.String({ pattern: "^rtf-" }),
  payload: object("As in `logs.realtime_feedback_events` of the run; empty for `rtf-bot-stopped-speaking`, which is not in there.")
})
export const DownFrame = Type.Union([Answer, CallFault, CallEnded, Feedback], { title: "SignalingFrame" })

export const answerFrame = (sdp: string, pcId: string): Static<typeof Answer> => ({
  type: "answer",
  payload: { sdp, type: "answer", pc_id: pcId }
})

export const errorFrame = (message: string, errorType?: (typeof errorTypes)[number]): Static<typeof CallFault> => ({
  type: "error",
  payload: { message, ...(errorType === undefined ? {} : { error_type: errorType }) }
})

export const endedFrame = (runId: RunId, pcId: string, cause: HangupCause): Static<typeof CallEnded> => ({
  type: "call-ended",
  payload: { workflow_run_id: runId, pc_id: pcId, reason: cause }
})

const stoppedSpeaking: Static<typeof Feedback> = { type: "rtf-bot-stopped-speaking", payload: {} }

/** A line of the agent is an event once it has been heard, but pages show lines as being spoken until they are told otherwise. */
export const feedbackFrames = (event: FeedbackEvent): ReadonlyArray<Static<typeof Feedback>> =>
  event.type === "rtf-bot-text" ? [{ ...event }, stoppedSpeaking] : [{ ...event }]
