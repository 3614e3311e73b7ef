/** What an agent's tools and webhooks prove themselves with. Its data is written and never read out. */
import { Schema } from "effect"

export const credentialTypes = ["none", "api_key", "bearer_token", "basic_auth", "custom_header"] as const
export type CredentialType = (typeof credentialTypes)[number]

export type CredentialData = Readonly<Record<string, unknown>>

/** Without the secret. */
export interface Credential {
  readonly uuid: string
  readonly name: string
  readonly description: string | null
  readonly credentialType: CredentialType
  /** It is sent to no others. */
  readonly allowedHosts: ReadonlyArray<string>
  readonly createdAt: Date
  readonly updatedAt: Date | null
}

/** Which text each type cannot do without. */
const neededData: { readonly [Type in CredentialType]: ReadonlyArray<string> } = {
  none: [],
  api_key: ["header_name", "api_key"],
  bearer_token: ["token"],
  basic_auth: ["username", "password"],
  custom_header: ["header_name", "header_value"]
}

/** The first field that is not there, or is no text. */
export const missingField = (type: CredentialType, data: CredentialData): string | undefined =>
  neededData[type].find((field) => typeof data[field] !== "string" || data[field] === "")

export class CredentialNotFound extends Schema.TaggedError<CredentialNotFound>()("CredentialNotFound", { uuid: Schema.String }) {}
export class CredentialNameTaken extends Schema.TaggedError<CredentialNameTaken>()("CredentialNameTaken", { name: Schema.String }) {}
/** The data lacks what the type needs. */
export class CredentialDataRefused extends Schema.TaggedError<CredentialDataRefused>()("CredentialDataRefused", {
  credentialType: Schema.String,
  field: Schema.String
}) {}
