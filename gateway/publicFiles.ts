/** The addresses of a run's files for whoever has no credential, for what the engine sends. */
import { Effect, Layer } from "effect"
import { PublicFiles } from "#core/file/PublicFiles.ts"
import type { FileLinks } from "./FileLinks.ts"
import { publicUrls } from "./routes/run.ts"
import type { Site } from "./Site.ts"
import { orUndefined } from "./wire/Field.ts"

/** Waits for the server to listen: before that, nobody knows its address. */
export const layer = Layer.effect(
  PublicFiles,
  Effect.map(Effect.context<FileLinks | Site>(), (context) => ({
    addressesOf: (run) =>
      publicUrls(run).pipe(
        Effect.map(({ recording, transcript }) => ({ recording: orUndefined(recording), transcript: orUndefined(transcript) })),
        Effect.provideContext(context)
      )
  }))
)
