/** Something an agent can do in a call besides talking: call another service, transfer, hang up, calculate. */
import { Schema } from "effect"
import type { ToolId } from "#core/Id.ts"

export const toolStatuses = ["active", "archived", "draft"] as const
export type ToolStatus = (typeof toolStatuses)[number]

export const toolTypes = ["http_api", "end_call", "transfer_call", "calculator", "mcp"] as const
type ToolType = (typeof toolTypes)[number]

/** Includes two categories of older products; clients may filter by them, but no tool has one. */
export const toolCategories = ["http_api", "end_call", "transfer_call", "calculator", "native", "integration", "mcp"] as const
export type ToolCategory = (typeof toolCategories)[number]

/** The definition as the client sent it, validated for its type. */
export interface ToolDefinition {
  readonly schema_version: number
  readonly type: ToolType
  readonly config?: Readonly<Record<string, unknown>>
}

export interface Tool {
  readonly id: ToolId
  readonly toolUuid: string
  readonly name: string
  readonly description: string | null
  /** Equals the type of the definition. */
  readonly category: ToolType
  readonly icon: string | null
  readonly iconColor: string | null
  readonly status: ToolStatus
  readonly definition: ToolDefinition
  readonly createdAt: Date
  readonly updatedAt: Date | null
  /** Null when it was created with a key that belongs to no user. */
  readonly createdBy: number | null
  readonly creatorProviderId: string | null
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === "object" && value !== null

/** The UUIDs of the credentials that a definition refers to. */
export const credentialsIn = ({ config = {} }: ToolDefinition): ReadonlyArray<string> =>
  [config, config["resolver"]]
    .map((place) => (isObject(place) ? place["credential_uuid"] : undefined))
    .filter((uuid) => typeof uuid === "string" && uuid !== "")
    .map(String)

/** Whether the tool can be used: an HTTP tool may be created before its URL is known. */
export const isReady = ({ config = {}, type }: ToolDefinition): boolean => {
  const { url } = config
  return type !== "http_api" || (typeof url === "string" && url.trim() !== "")
}

export class ToolNotFound extends Schema.TaggedError<ToolNotFound>()("ToolNotFound", { uuid: Schema.String }) {}
