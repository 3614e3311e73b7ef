/** What the files of a call are called: nobody who knows one name, or a run's number, can tell another. */
import { Context, Effect, Layer, Redacted } from "effect"
import { createHmac } from "node:crypto"
import { InstallationSecrets } from "#core/organization/InstallationSecrets.ts"

const secretName = "file-names"
/** Characters of the part that cannot be guessed, six bits each. */
const secretPart = 22

export class CallFiles extends Context.Service<
  CallFiles,
  {
    /** The same at every asking, so that a process finds what the one before it has begun. */
    readonly recording: (runId: number) => string
    readonly transcript: (runId: number) => string
    /** What a recording was called before names were secret. */
    readonly formerRecording: (runId: number) => string
  }
>()("runtime/storage/CallFiles") {
  static readonly layer = Layer.effect(
    CallFiles,
    Effect.map(
      InstallationSecrets.use((secrets) => secrets.get(secretName)),
      (secret) => namedBy(secret)
    )
  ).pipe(Layer.provide(InstallationSecrets.layer))
}

const formerRecording = (runId: number): string => `recordings/${runId}.wav`

const namedBy = (secret: Redacted.Redacted): CallFiles["Service"] => {
  const named = (kind: string, runId: number) =>
    `${runId}-${createHmac("sha256", Redacted.value(secret)).update(`${kind} ${runId}`).digest("base64url").slice(0, secretPart)}`
  return {
    recording: (runId) => `recordings/${named("recording", runId)}.wav`,
    transcript: (runId) => `transcripts/${named("transcript", runId)}.txt`,
    formerRecording
  }
}
