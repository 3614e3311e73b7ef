/** Something an agent can do in a call besides talking: ask another service, transfer, hang up, calculate. */
import { Schema } from "effect"
import type { ToolId } from "#core/Id.ts"

export const toolStatuses = ["active", "archived", "draft"] as const
export type ToolStatus = (typeof toolStatuses)[number]

export const toolTypes = ["http_api", "end_call", "transfer_call", "calculator", "mcp"] as const
type ToolType = (typeof toolTypes)[number]

/** Older products knew two more; tools of these can be asked for, and there are none. */
export const toolCategories = ["http_api", "end_call", "transfer_call", "calculator", "native", "integration", "mcp"] as const
export type ToolCategory = (typeof toolCategories)[number]

/** As the client sent it, checked for what its type needs. */
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
  /** The type of its definition. */
  readonly category: ToolType
  readonly icon: string | null
  readonly iconColor: string | null
  readonly status: ToolStatus
  readonly definition: ToolDefinition
  readonly createdAt: Date
  readonly updatedAt: Date | null
  /** Null when a key that belongs to no user made it. */
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

/** A tool may be made before it is known where it asks. */
export const isReady = ({ config = {}, type }: ToolDefinition): boolean => {
  const { url } = config
  return type !== "http_api" || (typeof url === "string" && url.trim() !== "")
}

export class ToolNotFound extends Schema.TaggedError<ToolNotFound>()("ToolNotFound", { uuid: Schema.String }) {}
