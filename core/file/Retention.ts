/** Whether, for how long and in which format an organization keeps the recordings and transcripts of its calls. */
import { Schema } from "effect"
import type { RecordingFormat } from "./RecordingFormat.ts"

export interface Retention {
  /** Null keeps them forever. */
  readonly recordingsDays: number | null
  readonly transcriptsDays: number | null
  /** Whether calls that start from now on are recorded, and whether their transcripts are kept. */
  readonly keepsRecordings: boolean
  readonly keepsTranscripts: boolean
  /** Applies to calls that have not ended yet. Null selects the operator's default. */
  readonly recordingFormat: RecordingFormat | null
}

/** The run's recording is still being written. */
export class RunNotCompleted extends Schema.TaggedError<RunNotCompleted>()("RunNotCompleted", { id: Schema.Int }) {}
