/** Port: links to a run's files that work without a credential. They expire after some days. */
import { Context, type Effect } from "effect"
import type { Run } from "#core/run/Run.ts"

/** Undefined when there is no such file. */
export interface PublicAddresses {
  readonly transcript: string | undefined
  readonly recording: string | undefined
}

export class PublicFiles extends Context.Service<
  PublicFiles,
  { readonly addressesOf: (run: Pick<Run, "id" | "transcriptKey" | "recordingKey">) => Effect.Effect<PublicAddresses> }
>()("core/file/PublicFiles") {}
