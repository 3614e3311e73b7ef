/** The HTTP header that carries a credential. */
import { Base64 } from "effect/encoding"
import type { CredentialData, CredentialType } from "./Credential.ts"

type Header = readonly [name: string, value: string]

const text = (data: CredentialData, field: string): string => {
  const value = data[field]
  return typeof value === "string" ? value : ""
}

const shown: { readonly [Type in CredentialType]: (data: CredentialData) => Header | undefined } = {
  none: () => undefined,
  api_key: (data) => [text(data, "header_name"), text(data, "api_key")],
  bearer_token: (data) => ["Authorization", `Bearer ${text(data, "token")}`],
  basic_auth: (data) => ["Authorization", `Basic ${Base64.encode(`${text(data, "username")}:${text(data, "password")}`)}`],
  custom_header: (data) => [text(data, "header_name"), text(data, "header_value")]
}

/** Undefined for a credential of type `none`. The name may be an invalid header name, because clients choose it. */
export const credentialHeader = (type: CredentialType, data: CredentialData): Header | undefined => shown[type](data)
