/**
 * The application at a carrier that calls are placed through, for configurations that name none: found by its name, as the reply to its creation may have
 * been lost, or created.
 */
import { Effect } from "effect"
import type { PrepareContext, ProviderError } from "#core/provider/Adapter.ts"
import * as Credential from "#core/provider/Credential.ts"
import type { HostedCarrier } from "./HostedCarrier.ts"
import { textAt } from "./Json.ts"
import { get, send } from "./requests.ts"

/** Where its id is kept: it stands for the field in which a person may name another one. */
export const createdApplication = (standsFor: string) =>
  Credential.managed(standsFor, { label: "Created Application", description: "Id of the application that the engine has created" })

interface Applications {
  /** Where they are created, and each is below by its id. */
  readonly path: string
  /** The application in a reply that shows one. */
  readonly shownIn: (body: unknown) => unknown
  /** At least all with this name. */
  readonly list: (name: string) => Effect.Effect<ReadonlyArray<unknown>, ProviderError>
  /** The member with the name. */
  readonly nameMember: string
  /** Why an application with this name is not ours. */
  readonly foreign?: (application: unknown) => string | undefined
  /** What else a new one consists of. */
  readonly members: (webhookUrl: string) => Effect.Effect<object, ProviderError>
}

/** The id of the application. `created`: of an earlier one, which may have been deleted since; empty if there was none. */
export const ownApplication = Effect.fnUntraced(function* (
  { error, fetch }: Pick<HostedCarrier, "error" | "fetch">,
  { callbackUrl, name }: Pick<PrepareContext, "callbackUrl" | "name">,
  created: string,
  { foreign, list, members, nameMember, path, shownIn }: Applications
) {
  if (callbackUrl === undefined) return yield* error("prepare", "there is no address for its webhooks: set PUBLIC_URL")
  const idIn = (body: unknown) => textAt(shownIn(body), "id")
  const look = fetch("prepare", get(`${path}/${encodeURIComponent(created)}`), (body) => (idIn(body) === created ? created : undefined))
  if (created !== "" && (yield* look) !== undefined) return created
  const named = (yield* list(name)).find((one) => textAt(one, nameMember) === name)
  const why = named === undefined ? undefined : foreign?.(named)
  if (why !== undefined) return yield* error("prepare", why)
  const found = textAt(named, "id")
  if (found !== undefined) return found
  const request = send("POST", path, { [nameMember]: name, ...(yield* members(callbackUrl("event"))) })
  return (yield* fetch("prepare", request, idIn)) ?? (yield* error("prepare", "what the application needs was not found"))
})
