/** How long an organization keeps what its calls leave behind, and in which format. */
import { Schema } from "effect"
import type { RecordingFormat } from "./RecordingFormat.ts"

export interface Retention {
  /** Null: for ever. */
  readonly recordingsDays: number | null
  readonly transcriptsDays: number | null
  /** Of calls that are yet to end. Null: the operator's. */
  readonly recordingFormat: RecordingFormat | null
}

/** Its recording is being written still. */
export class RunNotCompleted extends Schema.TaggedError<RunNotCompleted>()("RunNotCompleted", { id: Schema.Int }) {}
