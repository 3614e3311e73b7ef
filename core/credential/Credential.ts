/** How an agent's tools and webhooks authenticate. The secret can be written but never read back through the API. */
import { Schema } from "effect"

export const credentialTypes = ["none", "api_key", "bearer_token", "basic_auth", "custom_header"] as const
export type CredentialType = (typeof credentialTypes)[number]

export type CredentialData = Readonly<Record<string, unknown>>

/** A credential without its secret. */
export interface Credential {
  readonly uuid: string
  readonly name: string
  readonly description: string | null
  readonly credentialType: CredentialType
  /** The only hosts that the credential may be sent to. */
  readonly allowedHosts: ReadonlyArray<string>
  readonly createdAt: Date
  readonly updatedAt: Date | null
}

/** The text fields that each type requires. */
const neededData: { readonly [Type in CredentialType]: ReadonlyArray<string> } = {
  none: [],
  api_key: ["header_name", "api_key"],
  bearer_token: ["token"],
  basic_auth: ["username", "password"],
  custom_header: ["header_name", "header_value"]
}

/** The first required field that is missing, empty or not a string. */
export const missingField = (type: CredentialType, data: CredentialData): string | undefined =>
  neededData[type].find((field) => typeof data[field] !== "string" || data[field] === "")

export class CredentialNotFound extends Schema.TaggedError<CredentialNotFound>()("CredentialNotFound", { uuid: Schema.String }) {}
export class CredentialNameTaken extends Schema.TaggedError<CredentialNameTaken>()("CredentialNameTaken", { name: Schema.String }) {}
/** The data lacks a field that the type requires. */
export class CredentialDataRefused extends Schema.TaggedError<CredentialDataRefused>()("CredentialDataRefused", {
  credentialType: Schema.String,
  field: Schema.String
}) {}
