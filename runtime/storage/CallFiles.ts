/** Names the files of a call. Neither a run's number nor one file's name reveals the name of another. */
import { Context, Effect, Layer, Redacted } from "effect"
import { createHmac } from "node:crypto"
import { InstallationSecrets } from "#core/organization/InstallationSecrets.ts"

const secretName = "file-names"
/** Characters of the unguessable part, six bits each. */
const secretPart = 22

export class CallFiles extends Context.Service<
  CallFiles,
  {
    /** Always the same for a run, so that a process finds the recording that an earlier one started. */
    readonly recording: (runId: number) => string
    readonly transcript: (runId: number) => string
    /** The name of recordings made before names were secret. */
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
