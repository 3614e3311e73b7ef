/**
 * A span that is exported. Its contents come from closed lists: the names below and, for a failure, its tag. Effect offers more (attributes,
 * events, error messages, stacks), but that may contain phone numbers or secrets, so none of it is kept.
 */
import { Cause, Context, Exit, Option, type Tracer } from "effect"
import { randomUUID } from "node:crypto"

type AttributeName =
  | "error.type"
  | "http.request.method"
  | "http.response.status_code"
  | "http.route"
  | "trunkline.call_id"
  | "trunkline.campaign_id"
  | "trunkline.contacts_claimed"
  | "trunkline.contacts_wanted"
  | "trunkline.event_subject"
  | "trunkline.event_type"
  | "trunkline.hangup_cause"
  | "trunkline.is_adopted"
  | "trunkline.outcome"
  | "trunkline.provider"
  | "trunkline.run_id"
  | "trunkline.tries_before"
type AttributeValue = string | number | boolean
export type Attributes = { readonly [Name in AttributeName]?: AttributeValue | undefined }

/** What identifies a span in other processes. */
export type SpanRef = Pick<Tracer.AnySpan, "spanId" | "traceId">

export interface SpanStart {
  readonly name: string
  readonly traceId: string
  readonly parentSpanId: string | undefined
  readonly kind: Tracer.SpanKind
  readonly startTime: bigint
  readonly linked: ReadonlyArray<SpanRef>
}

/** One of our own words: no digits, no spaces, no path. */
const word = /^[A-Za-z_.]{1,64}$/

/** Spans that Effect creates around our own operations are named `Service.method`. */
export const isOwnName = (name: string): boolean => /^[A-Za-z]{1,64}\.[A-Za-z]{1,64}$/.test(name)

const digits = 16
export const newTraceId = (): string => randomUUID().replaceAll("-", "")
const newSpanId = (): string => newTraceId().slice(-digits)

const nothing: ReadonlyMap<string, unknown> = new Map()

export class TraceSpan implements Tracer.Span {
  readonly _tag = "Span"
  readonly sampled = true
  /** Not kept: a long-lived span would keep all its ancestors in memory. */
  readonly parent = Option.none()
  readonly annotations = Context.empty()
  readonly attributes = nothing
  readonly links = []
  readonly spanId = newSpanId()
  readonly name: string
  readonly traceId: string
  readonly parentSpanId: string | undefined
  readonly kind: Tracer.SpanKind
  readonly linked: ReadonlyArray<SpanRef>
  readonly told: Array<[AttributeName, AttributeValue]> = []
  status: Tracer.SpanStatus
  failed = false
  private readonly finished: (span: TraceSpan) => void

  constructor(start: SpanStart, finished: (span: TraceSpan) => void) {
    this.name = start.name
    this.traceId = start.traceId
    this.parentSpanId = start.parentSpanId
    this.kind = start.kind
    this.linked = start.linked
    this.status = { _tag: "Started", startTime: start.startTime }
    this.finished = finished
  }

  get isOver(): boolean {
    return this.status._tag === "Ended"
  }

  tell(attributes: Attributes): void {
    if (this.isOver) return
    for (const [name, value] of Object.entries(attributes)) {
      // Cast: `Object.entries` loses the type of the names.
      if (value !== undefined) this.told.push([name as AttributeName, value])
    }
  }

  /** `what`: a word for what went wrong. */
  fail(what: string): void {
    if (this.isOver) return
    this.failed = true
    this.tell({ "error.type": word.test(what) ? what : "other" })
  }

  /** Also called by Effect, with the exit of the effect in this span. */
  end(endTime: bigint, exit: Exit.Exit<unknown, unknown>): void {
    if (this.status._tag === "Ended") return
    if (Exit.isFailure(exit)) this.failWith(exit.cause)
    this.status = { _tag: "Ended", startTime: this.status.startTime, endTime, exit: Exit.void }
    this.finished(this)
  }

  attribute(): void {}
  event(): void {}
  addLinks(): void {}

  private failWith(cause: Cause.Cause<unknown>): void {
    if (Cause.hasInterruptsOnly(cause)) return this.tell({ "error.type": "interrupted" })
    const error = Cause.squash(cause)
    this.fail(error instanceof Error && "_tag" in error ? String(error._tag) : "defect")
  }
}
