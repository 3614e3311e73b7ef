/** Port: where whoever has no credential gets the files of a run. The addresses work for some days. */
import { Context, type Effect } from "effect"
import type { Run } from "#core/run/Run.ts"

/** Undefined: there is no such file. */
export interface PublicAddresses {
  readonly transcript: string | undefined
  readonly recording: string | undefined
}

export class PublicFiles extends Context.Service<
  PublicFiles,
  { readonly addressesOf: (run: Pick<Run, "id" | "transcriptKey" | "recordingKey">) => Effect.Effect<PublicAddresses> }
>()("core/file/PublicFiles") {}
