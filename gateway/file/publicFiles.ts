/** URLs of a run's files that work without a credential, for what the engine sends. */
import { Effect, Layer } from "effect"
import { PublicFiles } from "#core/file/PublicFiles.ts"
import type { Run } from "#core/run/Run.ts"
import { FileLinks } from "./FileLinks.ts"
import type { PublicUrls } from "#gateway/wire/Run.ts"
import { ServerInfo } from "#gateway/ports/ServerInfo.ts"
import { orUndefined } from "#gateway/request/Field.ts"

const noUrls: PublicUrls = { token: null, transcript: null, recording: null }

/** URLs of the run's files that work without a credential. */
export const publicUrls = Effect.fnUntraced(function* (run: Pick<Run, "id" | "transcriptKey" | "recordingKey">) {
  if (run.transcriptKey === undefined && run.recordingKey === undefined) return noUrls
  const token = yield* FileLinks.use((_) => _.token(run.id))
  const site = `${yield* Effect.flatMap(ServerInfo, ({ url }) => url)}/api/v1/public/download/workflow/${token}`
  const urls: PublicUrls = {
    token,
    transcript: run.transcriptKey === undefined ? null : `${site}/transcript`,
    recording: run.recordingKey === undefined ? null : `${site}/recording`
  }
  return urls
})

/** Waits until the server listens: its address is unknown before. */
export const layer = Layer.effect(
  PublicFiles,
  Effect.map(Effect.context<FileLinks | ServerInfo>(), (context) => ({
    addressesOf: (run) =>
      publicUrls(run).pipe(
        Effect.map(({ recording, transcript }) => ({ recording: orUndefined(recording), transcript: orUndefined(transcript) })),
        Effect.provideContext(context)
      )
  }))
)
