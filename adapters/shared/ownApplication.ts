/**
 * The application at a carrier through which calls are placed, for configurations that name none: looked up by name, because the reply to an
 * earlier creation may have been lost, or else created.
 */
import { Effect } from "effect"
import type { PrepareContext, ProviderError } from "#core/provider/Adapter.ts"
import * as Credential from "#core/provider/Credential.ts"
import type { SetupStep } from "#core/provider/Setup.ts"
import type { HostedCarrier } from "./HostedCarrier.ts"
import { textAt } from "./Json.ts"
import { fieldStep } from "./setup.ts"
import { get, send } from "./requests.ts"

/** The field that holds its id, in place of the field in which a person may name another one. */
export const createdApplication = (standsFor: string) =>
  Credential.managed(standsFor, { label: "Created Application", description: "Id of the application that the engine has created" })

/** The same for its private key, if applications have one. */
export const createdKey = (standsFor: string) => ({
  ...Credential.managed(standsFor, { label: "Created Key", description: "Private key of the application that the engine has created" }),
  sensitive: true,
  normal: "pem" as const
})

/** The step is incomplete until an application is named or created. */
export const applicationStep = (standsFor: string, isComplete: boolean): SetupStep =>
  fieldStep(
    "application",
    "Application",
    `An application is needed: enter its id as \`${standsFor}\`, or leave that empty and let the engine create one`,
    isComplete
  )

interface Applications<Field extends string> {
  /** The managed field with the id of an earlier application, which may have been deleted since; empty if there was none. */
  readonly field: Field
  /** Where applications are created; each one is below, by its id. */
  readonly path: string
  /** The application in a reply that shows one. */
  readonly shownIn: (body: unknown) => unknown
  /** Returns at least all applications with this name. */
  readonly list: (name: string) => Effect.Effect<ReadonlyArray<unknown>, ProviderError>
  /** The member with the name. */
  readonly nameMember: string
  /** Why an application with this name is not ours. */
  readonly foreign?: (application: unknown) => string | undefined
  /** The other members of a new application. */
  readonly members: (webhookUrl: string) => Effect.Effect<object, ProviderError>
}

/** The value of the managed field. */
export const ownApplication = Effect.fnUntraced(function* <Field extends string>(
  { error, fetch }: Pick<HostedCarrier, "error" | "fetch">,
  { callbackUrl, name }: Pick<PrepareContext, "callbackUrl" | "name">,
  config: Readonly<Record<Field, string>>,
  { field, foreign, list, members, nameMember, path, shownIn }: Applications<Field>
) {
  const created = config[field]
  if (callbackUrl === undefined) return yield* error("prepare", "there is no address for its webhooks: set PUBLIC_URL")
  const idIn = (body: unknown) => textAt(shownIn(body), "id")
  const look = fetch("prepare", get(`${path}/${encodeURIComponent(created)}`), (body) => (idIn(body) === created ? created : undefined))
  if (created !== "" && (yield* look) !== undefined) return { [field]: created }
  const named = (yield* list(name)).find((one) => textAt(one, nameMember) === name)
  const why = named === undefined ? undefined : foreign?.(named)
  if (why !== undefined) return yield* error("prepare", why)
  const found = textAt(named, "id")
  if (found !== undefined) return { [field]: found }
  const request = send("POST", path, { [nameMember]: name, ...(yield* members(callbackUrl("event"))) })
  const made = (yield* fetch("prepare", request, idIn)) ?? (yield* error("prepare", "what the application needs was not found"))
  return { [field]: made }
})
