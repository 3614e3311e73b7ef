/** Tries the keys of services when they are saved, so that a wrong one is told to whoever saves it, and not by a call without a voice. */
import { Context, Effect } from "effect"
import type { JsonObject } from "#core/Json.ts"
import type { ModelConfiguration } from "./ModelConfiguration.ts"
import { ModelError } from "./LanguageModel.ts"
import type { ServiceHost } from "./ServiceProvider.ts"
import type { ServiceRegistry } from "./ServiceRegistry.ts"
import type { ServiceKind } from "./VoiceServices.ts"

/** Whether keys are tried. */
export const KeyTrials = Context.Reference<boolean>("core/model/KeyTrials", { defaultValue: () => false })

/** Packages of others may be slow, or have faults. */
const patience = "6 seconds"
const slow = new ModelError({ reason: "timeout", isRetryable: true, message: "it did not answer in time" })

const wordsOf = (kind: ServiceKind, provider: string, { message, reason }: ModelError): string => {
  switch (reason) {
    case "credit":
      return `${kind}: ${provider} says that the account has no credit: ${message}`
    case "unreachable":
    case "timeout":
      return `${kind}: ${provider} could not be asked whether it takes the key: ${message}`
    default:
      return `${kind}: ${provider} does not take the key: ${message}`
  }
}

/** What the services say against their keys, in words; empty if they say nothing. */
export const refusedKeys = (
  registry: ServiceRegistry["Service"],
  host: ServiceHost,
  models: ModelConfiguration,
  kinds: ReadonlyArray<ServiceKind>
): Effect.Effect<ReadonlyArray<string>> => {
  const words = (kind: ServiceKind, service: JsonObject): Effect.Effect<ReadonlyArray<string>> => {
    const provider = typeof service["provider"] === "string" ? registry.find(kind, service["provider"]) : undefined
    if (provider?.probe === undefined || provider.faultsOf(service).length > 0) return Effect.succeed([])
    const tried = Effect.timeoutOrElse(provider.probe(service, host), { duration: patience, orElse: () => Effect.fail(slow) })
    return Effect.match(tried, {
      onSuccess: () => [],
      onFailure: (error) => [wordsOf(kind, provider.manifest.provider, error)]
    }).pipe(
      // An exception may contain the key: only its kind is reported.
      Effect.catchDefect((defect) =>
        Effect.as(
          Effect.logWarning("a service has a fault: its probe threw", {
            provider: provider.manifest.provider,
            kind,
            thrown: defect instanceof Error ? defect.name : typeof defect
          }),
          []
        )
      )
    )
  }
  const asked = kinds.flatMap((kind) => {
    const service = models[kind]
    return service === null ? [] : [words(kind, service)]
  })
  return Effect.map(Effect.all(asked, { concurrency: "unbounded" }), (all) => all.flat())
}
